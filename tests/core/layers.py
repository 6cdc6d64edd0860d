#!/usr/bin/env python3
"""Checks that the files of the scheduler include, and call, nothing of a higher layer.

Usage: layers.py FOLDER LIBRARY... The headers that a file includes are read from the source; what
it calls, which may be declared in a public header, from the symbols of its object in a library.

The layers are those of the list of sources in CMakeLists.txt. Every file of core/ (but
not of core/base/, which knows no broker) has to be in one of them.
"""

import pathlib
import re
import subprocess
import sys


def read_layers(folder):
    """The names of the layers, and for each file the number of its layer."""
    names, layer_of = [], {}
    for line in (folder / "CMakeLists.txt").read_text().splitlines():
        line = line.strip()
        layer = re.fullmatch(r"# layer (\w+): .*", line)
        headers = re.fullmatch(r"#\s+headers: (.*)", line)
        source = re.fullmatch(r"(\w+)\.c", line)
        if layer:
            names.append(layer[1])
        elif headers:
            layer_of.update({header: len(names) - 1 for header in headers[1].split()})
        elif source:
            layer_of[source[1] + ".c"] = len(names) - 1
            layer_of.setdefault(source[1] + ".h", len(names) - 1)
    return names, layer_of


def read_symbols(libraries):
    """For each object of the libraries, by the name of its source: what it defines and wants."""
    defined, wanted, source = {}, {}, None
    listing = subprocess.run(["nm", "-P", *libraries], check=True, capture_output=True, text=True)
    for line in listing.stdout.splitlines():
        member = re.search(r"\[(\w+\.c)\.o\]:$", line)
        if member:
            source = member[1]
            continue
        symbol = line.split()
        if source and len(symbol) >= 2:
            kind = wanted if symbol[1] == "U" else defined if symbol[1].isupper() else {}
            kind.setdefault(source, set()).add(symbol[0])
    return defined, wanted


def include_faults(folder, names, layer_of):
    """Lines that say which includes go up."""
    for path in sorted(folder.glob("*.[ch]")):
        if path.name not in layer_of:
            yield f"{path}: is in no layer"
            continue
        own = layer_of[path.name]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            include = re.match(r'#include "core/(\w+\.h)"', line)
            other = layer_of.get(include[1], own) if include else own
            if other > own:
                yield (f"{path}:{number}: {names[own]} includes {include[1]}, "
                       f"which belongs to {names[other]}")


def call_faults(libraries, names, layer_of):
    """Lines that say which calls go up."""
    defined, wanted = read_symbols(libraries)
    home = {symbol: source for source, symbols in defined.items() for symbol in symbols}
    if not home:
        print("the objects show no symbols: calls are not looked at")
    for source, symbols in sorted(wanted.items()):
        for symbol in sorted(symbols):
            other = home.get(symbol)
            if other and layer_of[other] > layer_of[source]:
                yield (f"{source}: {names[layer_of[source]]} calls {symbol}, "
                       f"which {other} in {names[layer_of[other]]} defines")


def main():
    folder = pathlib.Path(sys.argv[1])
    names, layer_of = read_layers(folder)
    found = [] if len(names) > 1 else [f"{folder}: its lists name no layers"]
    found += include_faults(folder, names, layer_of)
    found += call_faults(sys.argv[2:], names, layer_of)
    for fault in found:
        print(fault)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
