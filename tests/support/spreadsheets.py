"""Reads .xlsx files without their library, changes their inputs, and has LibreOffice compute them anew."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
MISSING = "LibreOffice is not installed: apt-get install --no-install-recommends libreoffice-calc"
ALWAYS = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item></oor:items>"""

Cell = tuple[str, str]
"""The name of a sheet and that of a cell, such as B4."""


class Spreadsheet:
    """What an .xlsx file holds: `cells`, numbers and texts; `formulas`; `styles`; `names`, each with its reference."""

    def __init__(self, data: bytes) -> None:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            self._parts = {name: archive.read(name) for name in archive.namelist()}
        self.cells: dict[Cell, float | str] = {}
        self.formulas: dict[Cell, str] = {}
        self.styles: dict[Cell, str] = {}
        book = self._tree("xl/workbook.xml")
        targets = {each.get("Id"): each.get("Target") for each in self._tree("xl/_rels/workbook.xml.rels")}
        self.names = {each.get("name"): each.text for each in book.iter(f"{MAIN}definedName")}
        self.paths = {each.get("name"): f"xl/{targets[each.get(RELATED)]}" for each in book.iter(f"{MAIN}sheet")}
        self._texts = [
            "".join(part.text or "" for part in each.iter(f"{MAIN}t")) for each in self._tree("xl/sharedStrings.xml")
        ]
        for sheet, path in self.paths.items():
            for cell in self._tree(path).iter(f"{MAIN}c"):
                self._read(sheet, cell)

    def _tree(self, path: str) -> ElementTree.Element:
        return ElementTree.fromstring(self._parts[path])  # noqa: S314 - files of our own

    def _read(self, sheet: str, cell: ElementTree.Element) -> None:
        at, value, formula = (sheet, cell.get("r")), cell.find(f"{MAIN}v"), cell.find(f"{MAIN}f")
        self.styles[at] = cell.get("s")
        if formula is not None:
            self.formulas[at] = formula.text
        if value is not None and value.text is not None:
            kind = cell.get("t")
            text = self._texts[int(value.text)] if kind == "s" else value.text
            self.cells[at] = text if kind in ("s", "str", "e") else float(text)

    def block(self, name: str) -> np.ndarray:
        """The numbers that go by a name; NaN where there is text."""
        sheet, left, top, right, bottom = re.fullmatch(
            r"'?([^'!]+)'?!\$([A-Z]+)\$(\d+)(?::\$([A-Z]+)\$(\d+))?", self.names[name]
        ).groups()
        right, bottom = right or left, bottom or top
        return np.array(
            [
                [self.number(sheet, letters(j), i) for j in range(index(left), index(right) + 1)]
                for i in range(int(top), int(bottom) + 1)
            ]
        )

    def number(self, sheet: str, column: str, row: int) -> float:
        found = self.cells[sheet, f"{column}{row}"]
        return found if isinstance(found, float) else np.nan

    def corner(self, name: str, i: int, j: int) -> Cell:
        """The cell of row i and column j of a name."""
        sheet, column, row = re.match(r"'?([^'!]+)'?!\$([A-Z]+)\$(\d+)", self.names[name]).groups()
        return sheet, f"{letters(index(column) + j)}{int(row) + i}"

    def rules(self, name: str) -> list[str]:
        """The rules by which a block is coloured: a formula, or "colours" for a scale of them."""
        sheet, *ends = re.fullmatch(r"'?([^'!]+)'?!\$([A-Z]+)\$(\d+):\$([A-Z]+)\$(\d+)", self.names[name]).groups()
        area = f"{ends[0]}{ends[1]}:{ends[2]}{ends[3]}"
        found = [
            each
            for each in self._tree(self.paths[sheet]).iter(f"{MAIN}conditionalFormatting")
            if each.get("sqref") == area
        ]
        return [rule.findtext(f"{MAIN}formula", "colours") for each in found for rule in each.iter(f"{MAIN}cfRule")]

    def holds(self, xml: str) -> bool:
        """Whether any sheet holds this piece of XML."""
        return any(xml in self._parts[path].decode() for path in self.paths.values())

    def stripped(self, changed: Mapping[Cell, float] | None = None) -> bytes:
        """The file with no value beside any formula, so that who reads it must compute; and with inputs changed."""
        parts = dict(self._parts)
        for sheet, path in self.paths.items():
            xml = parts[path].decode()
            xml = re.sub(r'(<c [^>]*?)(?: t="str")?>(<f>[^<]*</f>)<v>[^<]*</v>', r"\1>\2", xml)
            for (where, at), value in (changed or {}).items():
                if where == sheet:
                    xml, n = re.subn(rf'(<c r="{at}"[^>]*>)(?:<f>[^<]*</f>|<v>[^<]*</v>)', rf"\1<v>{value!r}</v>", xml)
                    assert n == 1
            parts[path] = xml.encode()
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for name, data in parts.items():
                archive.writestr(name, data)
        return out.getvalue()


def index(column: str) -> int:
    """A = 0, Z = 25, AA = 26."""
    number = 0
    for letter in column:
        number = number * 26 + ord(letter) - 64
    return number - 1


def letters(number: int) -> str:
    """0 = A, 25 = Z, 26 = AA."""
    return (letters(number // 26 - 1) if number >= 26 else "") + chr(65 + number % 26)


def recalculated(files: Mapping[str, bytes], folder: Path) -> dict[str, Spreadsheet]:
    """Every file as LibreOffice has computed it, all in one go. Skips where there is none; under CI fails."""
    program = shutil.which("soffice") or shutil.which("libreoffice")
    if program is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(MISSING)
    profile, given, made = folder / "profile", folder / "given", folder / "made"
    for each in (profile / "user", given, made):
        each.mkdir(parents=True)
    (profile / "user/registrymodifications.xcu").write_text(ALWAYS, encoding="utf-8")
    for name, data in files.items():
        (given / f"{name}.xlsx").write_bytes(data)
    command = [
        program,
        f"-env:UserInstallation={profile.as_uri()}",
        "--headless",
        "--norestore",
        "--convert-to",
        "xlsx",
    ]
    subprocess.run([*command, "--outdir", made, *given.iterdir()], check=True, capture_output=True, timeout=300)
    return {name: Spreadsheet((made / f"{name}.xlsx").read_bytes()) for name in files}
