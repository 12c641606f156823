"""The wheel: what is in it, what it asks of a system, and that a bare system can use it."""

import importlib.metadata
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile

import pytest

import covshift

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILT = ROOT / "build/python"
PROGRAM = pathlib.Path(sys.prefix) / "bin/covshift"


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def the_wheel(folder=BUILT):
    (path,) = folder.glob("wheel/covshift-*.whl")
    return path


def version():
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    return re.search(r"project\(covshift VERSION ([0-9.]+)", text)[1]


def readme_lines():
    return re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.S)[1]


def test_tag_is_that_of_an_old_system():
    assert re.search(r"-manylinux_2_(\d+)_", the_wheel().name)[1] <= "34"
    shown = " ".join(run(BUILT / "tools/bin/auditwheel", "show", the_wheel()).split())
    tag = the_wheel().stem.rpartition("-")[2].split(".")[0]
    assert f'is consistent with the following platform tag: "{tag}"' in shown


def test_needs_only_the_c_library(tmp_path):
    with zipfile.ZipFile(the_wheel()) as archive:
        archive.extractall(tmp_path)
    binaries = [*tmp_path.glob("covshift/_core*.so"), *tmp_path.glob("*.data/scripts/covshift")]
    assert len(binaries) == 2
    for path in binaries:
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", path)))
        assert {name.split(".")[0] for name in needed} <= {"libc", "libm", "libgcc_s", "ld-linux-x86-64"}
    symbols = run("readelf", "--dyn-syms", "--wide", binaries[0])
    defined = [line.split()[-1] for line in symbols.splitlines() if re.search(r"(GLOBAL|WEAK) .* \d+ \S+$", line)]
    assert defined == ["PyInit__core"]


def test_contents_and_metadata():
    with zipfile.ZipFile(the_wheel()) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
        metadata = archive.read(f"covshift-{version()}.dist-info/METADATA").decode()
        info = f"covshift-{version()}.dist-info"
        licence = archive.read(f"{info}/licenses/coinor-libclp-dev/copyright").decode()
    assert "Eclipse Public License - v 1.0" in licence
    other = {n for n in names if not n.startswith((info, f"covshift-{version()}.data"))}
    own = {f"covshift/{path.name}" for path in (ROOT / "python/covshift").iterdir() if path.is_file()}
    assert other - own == {n for n in names if re.fullmatch(r"covshift/_core\.(pyi|.*so)", n)}
    assert own <= other
    data = {n.partition(".data/")[2] for n in names if ".data/" in n}
    assert "scripts/covshift" in data
    assert "data/share/man/man1/covshift-fit.1" in data
    for field in (
        f"Version: {version()}", "Author: covshift maintainers", "License-Expression: BSD-3-Clause", "License-File: LICENSE",
        "Requires-Python: >=3.11", "Classifier: Programming Language :: Python :: 3.11",
        "Classifier: Programming Language :: Python :: 3.14", "Project-URL: Paper, https://arxiv.org/abs/1712.10043",
    ):
        assert field in metadata.splitlines()


def test_report_and_its_licence_come_together():
    with zipfile.ZipFile(the_wheel()) as archive:
        bundled = f"covshift-{version()}.dist-info/licenses/echarts/LICENSE" in archive.namelist()
        program = archive.read(f"covshift-{version()}.data/scripts/covshift")
    assert (b"Licensed to the Apache Software Foundation" in program) == bundled


def test_program_is_the_program():
    assert run(PROGRAM, "--version") == f"covshift {version()}\n" == f"covshift {covshift.__version__}\n"
    assert run(PROGRAM, "options") == run(os.environ["COVSHIFT"], "options")


def test_sdist_has_what_a_build_needs_and_no_more():
    (path,) = (ROOT / "build/dist").glob("covshift-*.tar.gz")
    assert path.name == f"covshift-{version()}.tar.gz"
    with tarfile.open(path) as archive:
        names = {member.name.partition("/")[2] for member in archive}
    for folder in ("cli", "cmake", "covshift", "python"):
        files = (f for f in (ROOT / folder).rglob("*") if f.is_file() and "__pycache__" not in f.parts)
        assert {str(f.relative_to(ROOT)) for f in files} <= names
    assert {"CMakeLists.txt", "LICENSE", "README.md", "pyproject.toml"} <= names
    built = {name for name in names if name.startswith("build/")}
    if (ROOT / "build/report/node_modules/echarts").exists():
        echarts = "build/report/node_modules/echarts"
        assert built == {"build/report/package-lock.json",
                         *(f"{echarts}/{name}" for name in ("LICENSE", "NOTICE", "dist/echarts.min.js"))}
    assert {n for n in names if n.startswith("bench/")} == {"bench/RESULTS.md", "bench/random_fits.py"}
    unwanted = (".git", ".ci", "node_modules/")
    assert [n for n in names if n.startswith(unwanted) or n.endswith((".o", ".so", ".pyc"))] == []


def small_system(root):
    """Python of the system, libraries that it, NumPy, SciPy and scikit-learn need, and nothing else."""
    base = pathlib.Path(os.path.realpath(sys.executable))
    library = pathlib.Path(os.path.realpath(os.__file__)).parent
    files = [base, *re.findall(r"(/\S+) \(0x", run("ldd", base))]
    for name in ("ffi", "stdc++", "gcc_s", "dl", "rt", "pthread", "util"):
        files += re.findall(rf"lib{re.escape(name)}\.so\.\d+ .* => (\S+)", run("/sbin/ldconfig", "-p"))[:1]
    for path in map(pathlib.Path, files):
        copy = root / path.relative_to("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)
    shutil.copytree(library, root / library.relative_to("/"), symlinks=True, dirs_exist_ok=True,
                    ignore=shutil.ignore_patterns("test", "config-*", "dist-packages"))
    for folder in ("tmp", "dev"):
        (root / folder).mkdir()
    (root / "dev/null").touch()
    return base


def dependencies(name):
    """The installed packages that a package needs, and those that these need."""
    found = set()
    for line in importlib.metadata.requires(name) or []:
        needed = re.match(r"[\w.-]+", line)[0]
        if "extra ==" not in line and needed not in found:
            found |= {needed} | dependencies(needed)
    return found


def install(root, inside, python):
    """pip install in a fresh virtual environment, which has the packages that covshift needs."""
    run(*inside, python, "-m", "venv", "--without-pip", "/venv")
    (target,) = (root / "venv/lib").glob("python3*/site-packages")
    for name in {"pip"} | dependencies("covshift"):
        for file in importlib.metadata.files(name):
            if file.parts[0] != ".." and "tests" not in file.parts:
                (target / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file.locate(), target / file)
    shutil.copy2(the_wheel(), root / "tmp")
    run(*inside, "/venv/bin/python", "-m", "pip", "install", "--no-index", f"/tmp/{the_wheel().name}")


def test_bare_system(tmp_path):
    """A system without compiler and without the libraries of Debian that the build used."""
    python = small_system(tmp_path)
    as_root = [] if os.getuid() == 0 else ["/usr/bin/unshare", "-r"]
    inside = ["env", "-i", "HOME=/tmp", *as_root, "/usr/sbin/chroot", str(tmp_path)]
    tried = subprocess.run([*inside, python, "-c", ""], capture_output=True, text=True)
    if re.search("not permitted|denied", tried.stderr):
        pytest.skip(f"chroot is not allowed here: {tried.stderr}")
    install(tmp_path, inside, python)
    assert run(*inside, "/venv/bin/covshift", "--version") == f"covshift {version()}\n"
    assert "robust" in run(*inside, "/venv/bin/covshift", "demo")
    (tmp_path / "tmp/readme.py").write_text(readme_lines() + "\nprint(covshift.__file__)\n", encoding="utf-8")
    assert run(*inside, "/venv/bin/python", "/tmp/readme.py").splitlines()[-1].startswith("/venv/lib/")


def test_stable_abi(tmp_path):
    """The wheel for Python 3.12 and later; `make wheels` builds it where there is one."""
    built = sorted(BUILT.glob("python3.*/wheel/covshift-*.whl"))
    if not built:
        pytest.skip("not built: make wheels, with Python 3.12 or later")
    assert re.search(r"-cp312-abi3-manylinux_2_(\d+)_", built[0].name)[1] <= "34"
    environment = built[0].parents[1] / "venv/bin"
    assert run(environment / "covshift", "--version") == f"covshift {version()}\n"
    run(environment / "python", "-c", readme_lines(), cwd=tmp_path)
