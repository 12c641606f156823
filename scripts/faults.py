#!/usr/bin/env python3
"""Faults while files are written: no partial file, the right exit code, a message.

    scripts/faults.py PROGRAM [--quick] [--kills N]

Every command that writes a file meets: a full disk, a folder it may not write to, /dev/full, dangling and
looping links, a link to its own input, kill -9 at any moment, several writers of one file. Every command
that prints meets a standard output that is full or closed. Prints a line for each and the number of runs.
As root, full disks are a small tmpfs too, and folders are closed to an ordinary user.
"""

import argparse
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

DRAFT = ".covshift-draft-"
NOBODY = 65534


def write_data(path, rows, mean, source):
    with open(path, "w", encoding="utf-8") as file:
        file.write("x1,x2,y\n")
        for _ in range(rows):
            x = source.gauss(mean, 1), source.gauss(0, 1)
            file.write(f"{x[0]:.4f},{x[1]:.4f},{'a' if x[1] + source.gauss(0, 1) > 0 else 'b'}\n")


class Faults:
    def __init__(self, program, quick, kills):
        self.folder = tempfile.mkdtemp(prefix="faults")
        os.chmod(self.folder, 0o755)
        self.program = self.path("covshift")  # where another user can run it too
        shutil.copy(program, self.program)
        source = random.Random(1)
        write_data(self.path("train.csv"), 150, 0, source)
        write_data(self.path("target.csv"), 150, 1, source)
        self.quick, self.kills, self.source = quick, kills, source
        self.runs, self.failures = 0, []
        self.writers = self.commands_that_write()
        self.run_ok("fit", self.path("model.json"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def commands_that_write(self):
        train, target, model = map(self.path, ("train.csv", "target.csv", "model.json"))
        writers = {
            "fit": ["fit", train, "--target", target, "--label", "y", "--method", "robust", "--lambda", "1",
                    "-q", "-o"],
            "predict": ["predict", model, target, "-o"],
            "sample": ["sample", train, "--label", "y", "--seed", "1", "--target-output",
                       self.path("other.csv"), "--train-output"],
        }
        help_text = subprocess.run([self.program, "diagnose", "--help"], capture_output=True, text=True,
                                   check=True).stdout
        if "--report" in help_text and self.has_report(train, target):
            writers["diagnose"] = ["diagnose", train, target, "--label", "y", "-q", "--report"]
            writers["compare"] = ["compare", train, target, "--label", "y", "--methods", "lr,iw", "-q",
                                  "--report"]
        return writers

    def has_report(self, train, target):
        page = self.path("page.html")
        code = subprocess.run([self.program, "diagnose", train, target, "--label", "y", "-q", "--report", page],
                              capture_output=True, check=False).returncode
        return code == 0 and os.path.exists(page)

    def run(self, arguments, **options):
        self.runs += 1
        return subprocess.run([self.program, *arguments], capture_output="stdout" not in options,
                              text=True, timeout=300, check=False, **options)

    def run_ok(self, name, output):
        result = self.run([*self.writers[name], output])
        assert result.returncode == 0, (name, result.stderr)
        with open(output, "rb") as file:
            return file.read()

    def expect(self, holds, name, fault, detail=""):
        if not holds:
            self.failures.append(f"{name}, {fault}: {detail}")

    def refused(self, name, fault, result, output, before=None, code=1):
        """Exit code, a message, and the output as it was."""
        self.expect(result.returncode == code, name, fault, f"exit {result.returncode}: {result.stderr}")
        self.expect(os.path.basename(output) in result.stderr, name, fault, f"message {result.stderr!r}")
        after = None
        if os.path.isfile(output):
            with open(output, "rb") as file:
                after = file.read()
        self.expect(after == before, name, fault, "the output changed")
        self.no_drafts(name, fault, os.path.dirname(output))

    def no_drafts(self, name, fault, folder):
        left = [f for f in os.listdir(folder) if DRAFT in f]
        self.expect(not left, name, fault, f"left behind: {left}")

    # --- the faults: of one command ---

    def limited_size(self, name, arguments):
        output = self.path("limited")

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        self.refused(name, "size limit", self.run([*arguments, output], preexec_fn=limit,
                                                  restore_signals=False), output)

    def full_disk(self, name, arguments):
        if os.geteuid() != 0:
            return
        disk = self.path("disk")
        os.makedirs(disk, exist_ok=True)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", disk], capture_output=True,
                                 check=False)
        if mounted.returncode != 0:
            return
        try:
            with open(os.path.join(disk, "filler"), "wb") as file:
                file.write(b"x" * 4096)
            output = os.path.join(disk, "out")
            self.refused(name, "full disk", self.run([*arguments, output]), output)
        finally:
            subprocess.run(["umount", disk], check=True)

    def closed_folder(self, name, arguments):
        folder = self.path("closed")
        os.makedirs(folder, exist_ok=True)
        output = os.path.join(folder, "out")
        with open(output, "wb") as file:
            file.write(b"old")
        os.chmod(folder, 0o555)
        user = {"user": NOBODY} if os.geteuid() == 0 else {}
        self.refused(name, "read-only folder", self.run([*arguments, output], **user), output, b"old")
        os.chmod(folder, 0o755)

    def device(self, name, arguments):
        result = self.run([*arguments, "/dev/full"])
        self.expect(result.returncode == 1 and "No space" in result.stderr, name, "/dev/full",
                    f"exit {result.returncode}: {result.stderr}")

    def links(self, name, arguments):
        dangling, loop, other = self.path("dangling"), self.path("loop"), self.path("other-loop")
        landed = self.path("landed")
        for link, to in ((dangling, "landed"), (loop, "other-loop"), (other, "loop")):
            if not os.path.islink(link):
                os.symlink(to, link)
        if os.path.exists(landed):
            os.remove(landed)
        result = self.run([*arguments, dangling])
        self.expect(result.returncode == 0 and os.path.islink(dangling) and os.path.isfile(landed), name,
                    "dangling link", result.stderr)
        self.refused(name, "looping link", self.run([*arguments, loop]), loop)
        with open(arguments[1], "rb") as file:
            before = file.read()
        own = self.path("own-" + name)
        os.symlink(arguments[1], own)
        self.refused(name, "link to its input", self.run([*arguments, own]), own, before, code=2)

    def killed(self, name, arguments):
        output = self.path("killed-" + name)
        begin = time.monotonic()
        whole = self.run_ok(name, output)
        took = time.monotonic() - begin
        for content in (None, whole):
            with open(output, "wb") as file:
                file.write(whole)
            for _ in range(self.kills):
                if content is None and os.path.exists(output):
                    os.remove(output)
                self.runs += 1
                with subprocess.Popen([self.program, *arguments, output], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL) as process:
                    time.sleep(self.source.uniform(0, took))
                    process.kill()
                if os.path.exists(output):
                    with open(output, "rb") as file:
                        found = file.read()
                    self.expect(self.alike(found, whole), name, "kill -9", "a partial file")
                else:
                    self.expect(content is None, name, "kill -9", "the old file is gone")
        self.run_ok(name, output)
        self.no_drafts(name, "after kill -9", self.folder)

    def concurrent(self, name, arguments):
        output = self.path("shared-" + name)
        processes = [
            subprocess.Popen([self.program, *arguments, output], stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
            for _ in range(4 if self.quick else 8)
        ]
        for process in processes:
            self.runs += 1
            _, message = process.communicate(timeout=300)
            self.expect(process.returncode == 0, name, "concurrent writers", message)
        with open(output, "rb") as file:
            found = file.read()
        self.expect(self.alike(found, self.run_ok(name, output)), name, "concurrent writers", "a mixed file")
        self.no_drafts(name, "concurrent writers", self.folder)

    @staticmethod
    def alike(found, whole):
        """The same but for times of the day and durations in reports: as long, with the same end."""
        return abs(len(found) - len(whole)) < 200 and found[-20:] == whole[-20:]

    # --- of standard output ---

    def printers(self):
        train, target, model = map(self.path, ("train.csv", "target.csv", "model.json"))
        return {
            "fit": ["fit", train, "--label", "y", "--method", "lr", "--lambda", "1", "-o", self.path("m")],
            "fit to stdout": ["fit", train, "--label", "y", "--method", "lr", "--lambda", "1", "-q", "-o", "-"],
            "predict": ["predict", model, target],
            "evaluate": ["evaluate", model, target],
            "diagnose": ["diagnose", train, target, "--label", "y"],
            "compare": ["compare", train, target, "--label", "y", "--methods", "lr,iw"],
            "options": ["options"],
            "completion": ["completion", "bash"],
            "datasets": ["datasets"],
            "help": ["--help"],
        }

    def standard_output(self, name, arguments):
        with open("/dev/full", "wb") as full:
            result = self.run(arguments, stdout=full, stderr=subprocess.PIPE)
        self.expect(result.returncode == 1, name, "stdout full", f"exit {result.returncode}: {result.stderr}")
        closed = self.run(["-c", '"$@" >&-', "sh", self.program, *arguments], executable="/bin/sh",
                          stdout=None, stderr=subprocess.PIPE)
        self.expect(closed.returncode == 1, name, "stdout closed", f"exit {closed.returncode}: {closed.stderr}")

    def all(self):
        for name, arguments in self.writers.items():
            faults = [self.limited_size, self.full_disk, self.closed_folder, self.device, self.links,
                      self.concurrent, self.killed]
            for fault in faults:
                fault(name, arguments)
        for name, arguments in self.printers().items():
            self.standard_output(name, arguments)
        shutil.rmtree(self.folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--quick", action="store_true", help="few kills and writers")
    parser.add_argument("--kills", type=int, help="of each command, with and without an old file")
    options = parser.parse_args()
    kills = options.kills or (3 if options.quick else 50)
    faults = Faults(options.program, options.quick, kills)
    faults.all()
    for failure in faults.failures:
        print(failure)
    print(f"{faults.runs} runs of {len(faults.writers)} commands that write and {len(faults.printers())} that "
          f"print: {len(faults.failures)} failures")
    return 1 if faults.failures else 0


if __name__ == "__main__":
    sys.exit(main())
