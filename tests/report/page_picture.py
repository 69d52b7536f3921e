"""Makes the picture of docs/reference/reports.md: `cmake --build BUILD --target report_picture`.

    page_picture.py BROWSER report_pages PICTURE.png
"""
import pathlib
import subprocess
import sys
import tempfile

from browser import Browser

program, pages, picture = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder, Browser(program, 1100, 1000) as page:
    subprocess.run([pages, folder], check=True)
    page.open(pathlib.Path(folder) / "documented.html")
    page.ask("document.querySelectorAll('details').forEach((one) => { one.open = false; })")
    page.point_at("[data-row=part-4-1]")
    page.ask("scrollTo(0, 0)")
    page.picture(picture)
