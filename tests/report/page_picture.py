"""Makes the picture of docs/reference/reports.md and of the README: `cmake --build BUILD --target report_picture`.

    page_picture.py BROWSER report_pages PICTURE.png
"""
import pathlib
import subprocess
import sys
import tempfile

import PIL.Image

from browser import Browser

program, pages, picture = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder, Browser(program, 1240, 780) as page:
    subprocess.run([pages, folder], check=True)
    page.open(pathlib.Path(folder) / "documented.html")
    page.ask("document.querySelectorAll('details').forEach((one) => { one.open = false; })")
    # The first wait for a store.
    page.ask("[...document.querySelectorAll('.job rect')].find((one) => one.textContent.startsWith('waits until C.acc is stored')).id = 'shown'")
    page.point_at("#shown")
    page.ask("scrollTo(0, 0)")
    page.picture(picture)
    # A page has few colours.
    PIL.Image.open(picture).convert("RGB").quantize(64, dither=PIL.Image.Dither.NONE).save(picture, optimize=True)
