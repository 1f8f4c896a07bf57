#!/usr/bin/env python3
"""Writes unicode_tables.def from Python's unicodedata: run by hand when the Unicode version moves.

    python3 stdlib/generate_unicode.py > stdlib/unicode_tables.def
"""
import sys
import unicodedata


def ranges(predicate):
    out, start = [], None
    for c in range(0x110001):
        inside = c < 0x110000 and not 0xD800 <= c <= 0xDFFF and predicate(chr(c))
        if inside and start is None:
            start = c
        elif not inside and start is not None:
            out.append((start, c - 1))
            start = None
    return out


def mappings(convert):
    """Runs of (first, last, stride, delta) of the one-to-one mappings, and the others."""
    single, special = [], []
    for c in range(0x110000):
        if 0xD800 <= c <= 0xDFFF:
            continue
        text = convert(chr(c))
        if text == chr(c):
            continue
        if len(text) == 1:
            single.append((c, ord(text) - c))
        else:
            special.append((c, [ord(x) for x in text]))
    runs = []
    for c, delta in single:
        if runs:
            first, last, stride, d = runs[-1]
            if d == delta:
                step = c - last
                if stride == 0 and step in (1, 2):
                    runs[-1] = (first, c, step, d)
                    continue
                if stride == step:
                    runs[-1] = (first, c, stride, d)
                    continue
        runs.append((c, c, 0, delta))
    return [(f, l, s or 1, d) for f, l, s, d in runs], special


def main():
    out = sys.stdout
    out.write("// Written by generate_unicode.py from Unicode %s. Columns:\n" % unicodedata.unidata_version)
    out.write("//   GOS_ALPHABETIC, GOS_NUMERIC, GOS_UPPERCASE, GOS_LOWERCASE (first, last)\n")
    out.write("//   GOS_TO_UPPER, GOS_TO_LOWER (first, last, stride, delta)\n")
    out.write("//   GOS_TO_UPPER_MANY, GOS_TO_LOWER_MANY (scalar, first, second, third or 0)\n")
    out.write("// Each sorted by the scalar value. Undefined ones expand to nothing.\n")
    names = ["ALPHABETIC(a, b)", "NUMERIC(a, b)", "UPPERCASE(a, b)", "LOWERCASE(a, b)", "TO_UPPER(a, b, c, d)",
             "TO_LOWER(a, b, c, d)", "TO_UPPER_MANY(a, b, c, d)", "TO_LOWER_MANY(a, b, c, d)"]
    for name in names:
        out.write("#ifndef GOS_%s\n#define GOS_%s\n#endif\n" % (name.split("(")[0], name))
    for name, predicate in [
        ("ALPHABETIC", lambda x: x.isalpha() or unicodedata.category(x) == "Nl"),
        ("NUMERIC", lambda x: unicodedata.category(x)[0] == "N"),
        ("UPPERCASE", str.isupper),
        ("LOWERCASE", str.islower),
    ]:
        for first, last in ranges(predicate):
            out.write("GOS_%s(0x%x, 0x%x)\n" % (name, first, last))
    for name, convert in [("UPPER", str.upper), ("LOWER", str.lower)]:
        runs, special = mappings(convert)
        for run in runs:
            out.write("GOS_TO_%s(0x%x, 0x%x, %d, %d)\n" % ((name,) + run))
        for c, text in special:
            text = text + [0] * (3 - len(text))
            out.write("GOS_TO_%s_MANY(0x%x, 0x%x, 0x%x, 0x%x)\n" % (name, c, *text))
    for name in names:
        out.write("#undef GOS_%s\n" % name.split("(")[0])


main()
