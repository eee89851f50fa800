#!/usr/bin/env python3
"""Checks that a program of a release build has the protections of cmake/hardening.cmake: `check_hardening.py PROGRAM`.

Prints a line for each that is missing; exit 1 if one is. Shadow stacks and branch tracking are a note of the whole
program, which an option of the linker writes whatever the C runtime's start files say: therefore the first instruction
of our own main() is read as well.
"""

import platform
import re
import subprocess
import sys

ENDBR64 = "f30f1efa"


def readelf(program, *options):
    done = subprocess.run(["readelf", "-W", *options, program], capture_output=True, text=True, check=True)
    return done.stdout


def bytes_at(program, address, size):
    """What is at a virtual address, as hexadecimal digits."""
    for offset, start, length in re.findall(r"^\s*LOAD\s+0x(\w+)\s+0x(\w+)\s+0x\w+\s+0x(\w+)", readelf(program, "-l"),
                                            re.MULTILINE):
        into = address - int(start, 16)
        if 0 <= into < int(length, 16):
            with open(program, "rb") as file:
                file.seek(int(offset, 16) + into)
                return file.read(size).hex()
    return ""


def main_begins_with(program):
    address = re.search(r"^\s*\d+:\s*(\w+)\s+\d+\s+FUNC\s.*\smain$", readelf(program, "--symbols"), re.MULTILINE)
    return bytes_at(program, int(address.group(1), 16), 4) if address else ""


def missing(program, machine=platform.machine()):
    """Which protections the program lacks, a line each."""
    header, segments = readelf(program, "-h"), readelf(program, "-l")
    dynamic, symbols = readelf(program, "-d"), readelf(program, "--dyn-syms")
    if not re.search(r"Type:\s+DYN", header) or not re.search(r"FLAGS_1.*\bPIE\b", dynamic):
        yield "is not position independent (-fPIE -pie)"
    if "GNU_RELRO" not in segments:
        yield "has no read-only relocations (-z relro)"
    if "BIND_NOW" not in dynamic:
        yield "binds functions lazily (-z now)"
    if not re.search(r"GNU_STACK\s.*\sRW\s", segments):
        yield "has an executable stack"
    if "__stack_chk_fail" not in symbols:
        yield "has no stack protector (-fstack-protector-strong)"
    if not re.search(r"\s__\w+_chk\b", symbols):
        yield "has no checked copies or prints (-D_FORTIFY_SOURCE=3)"
    if machine == "x86_64" and main_begins_with(program) != ENDBR64:
        yield "has no branch tracking (-fcf-protection=full)"
    notes = readelf(program, "-n") if machine == "x86_64" else ""
    for feature in ("IBT", "SHSTK"):
        if machine == "x86_64" and not re.search(rf"x86 feature:.*\b{feature}\b", notes):
            yield f"is not marked {feature} (-z {feature.lower()})"


def main():
    lacks = list(missing(sys.argv[1]))
    for what in lacks:
        print(f"{sys.argv[1]}: {what}")
    print(f"hardening: {len(lacks)} protections are missing")
    return 1 if lacks else 0


if __name__ == "__main__":
    sys.exit(main())
