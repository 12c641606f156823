#!/bin/bash
# Installs missing Debian packages for a purpose:
#     scripts/packages.sh build|report|test|browser|bench|pictures|fuzz|docs|venv|python|mpi|playground...
# Needs no network if all are installed; otherwise root or sudo.
set -euo pipefail

packages=()
for purpose in "$@"; do
  case $purpose in
    build) packages+=(cmake ninja-build g++ libeigen3-dev coinor-libclp-dev libboost-dev libcli11-dev
                      nlohmann-json3-dev libfmt-dev zlib1g-dev) ;;
    # Any npm will do; Debian's conflicts with others.
    report) command -v npm >/dev/null || packages+=(npm) ;;
    browser) command -v chromium >/dev/null || packages+=(chromium) ;;
    test)  packages+=(libgtest-dev libgmock-dev librapidcheck-dev clang-format clang-tidy
                      pkg-config groff-base python3 python3-numpy python3-scipy) ;;
    bench) packages+=(libbenchmark-dev python3) ;;
    pictures) packages+=(librsvg2-bin fonts-dejavu-core) ;;
    fuzz)  packages+=(clang libclang-rt-14-dev) ;;  # libFuzzer comes with clang's run-time library
    docs)  packages+=(doxygen) ;;
    venv)  packages+=(python3-venv) ;;
    # The archives that the wheel links in, besides those that the packages above bring.
    python) packages+=(python3-venv python3-dev binutils libbz2-dev liblapack-dev libblas-dev) ;;
    mpi)   packages+=(libopenmpi-dev openmpi-bin) ;;
    playground) packages+=(emscripten python3) ;;
    *) echo "packages.sh: unknown purpose '$purpose' (build, report, test, browser, bench, pictures, fuzz, docs, venv, python, mpi, playground)" >&2
       exit 2 ;;
  esac
done

[ ${#packages[@]} -eq 0 ] && exit 0
if ! command -v dpkg-query >/dev/null; then
  echo "packages.sh: not a Debian system; continuing as if these were installed: ${packages[*]}" >&2
  exit 0
fi

installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null |
            sed -n 's/^installed //p' || true)
missing=()
for package in "${packages[@]}"; do
  grep -qxF -- "$package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "packages.sh: these packages are missing; install them as root: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi
echo "Installing: ${missing[*]}" >&2
install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends
         "${missing[@]}")
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The package lists may be absent or too old to download from: fetch them, then install.
if ! { "${as_root[@]}" apt-get update -qq && "${as_root[@]}" "${install[@]}"; } >"$log" 2>&1; then
  cat "$log" >&2
  echo "packages.sh: could not install ${missing[*]}; the messages above say why" >&2
  exit 1
fi
