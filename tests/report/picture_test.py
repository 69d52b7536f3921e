"""Compares the pictures of pages, as a browser draws them, with small ones that are stored: tests/report/pictures.

    picture_test.py BROWSER report_pages report_traces [--update]

A stored picture has a pixel for each square of 8 x 8, the mean of it. Letters are not drawn, and each picture is drawn alone, 1:1 and at a
corner. So another font or a browser that smooths edges otherwise changes little, while a box that is missing, empty, in another colour or
a few pixels elsewhere changes many squares. --update stores what is drawn now: look at it before.
"""
import base64
import io
import pathlib
import subprocess
import sys
import tempfile

import PIL.Image
import PIL.ImageChops

from browser import Browser

STORED = pathlib.Path(__file__).parent / "pictures"
SQUARE = 8
MOST = 14  # by which a square may differ, of 255: a box that is 3/4 pixel elsewhere differs by less
PAGES = [("matmul", "light"), ("matmul", "dark"), ("two_blocks", "light"), ("cores", "light"), ("program", "light"), ("trace", "light")]


def drawn(page, selector, at):
    """The picture `at` of those that a selector finds, alone in a corner, as a thumbnail."""
    width, height = page.ask(f"""(() => {{
        document.getElementById('alone-in-a-corner')?.remove();
        const svg = document.querySelectorAll({selector!r})[{at}].cloneNode(true), place = document.createElement('div');
        place.id = 'alone-in-a-corner';
        place.className = 'shown';
        place.append(svg);
        place.style = 'position: fixed; inset: 0; z-index: 9; overflow: hidden; background: var(--paper, #fcfcfb)';
        for (const text of svg.querySelectorAll('text')) text.style.display = 'none';
        const size = ['width', 'height'].map((name) => Number(svg.getAttribute(name)));
        Object.assign(svg.style, {{ width: size[0] + 'px', height: size[1] + 'px', minWidth: 0, maxWidth: 'none' }});
        document.documentElement.append(place);
        return size; }})()""")
    clip = {"x": 0, "y": 0, "width": -(-width // SQUARE) * SQUARE, "height": -(-height // SQUARE) * SQUARE, "scale": 1}
    data = page.call("Page.captureScreenshot", format="png", clip=clip)["data"]
    seen = PIL.Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")
    return seen.resize((seen.width // SQUARE, seen.height // SQUARE), PIL.Image.BOX)


def difference(seen, stored):
    """The largest difference of a square in a colour, and where; None: another size."""
    if seen.size != stored.size:
        return None
    apart = PIL.ImageChops.difference(seen, stored)
    return max((max(apart.getpixel((x, y))), x * SQUARE, y * SQUARE) for x in range(apart.width) for y in range(apart.height))


def main(program, pages, traces, update=False):
    wrong, names = [], set()

    def look(name, seen):
        file = STORED / f"{name}.png"
        names.add(file.name)
        if update:
            seen.save(file, optimize=True)
            return
        if not file.exists():
            return wrong.append(f"{name} is not stored")
        found = difference(seen, PIL.Image.open(file).convert("RGB"))
        if found is None or found[0] > MOST:
            seen.save(pathlib.Path(tempfile.gettempdir()) / f"tilewright-{name}.png")
            wrong.append(f"{name}: " + ("another size" if found is None else f"differs by {found[0]} of 255 near ({found[1]}, {found[2]})"))

    with tempfile.TemporaryDirectory() as folder, Browser(program) as page:
        for one in (pages, traces):
            subprocess.run([one, folder], check=True)
        for name, scheme in PAGES:
            page.open(pathlib.Path(folder) / f"{name}.html", scheme)
            page.ask("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            for at in range(page.ask("document.querySelectorAll('.shown > svg').length")):
                look(f"{name}-{scheme}-{at}", drawn(page, ".shown > svg", at))
        # The files for documents are the same pictures, in the order of the page.
        for at, name in enumerate(("timeline", "memory_spad", "memory_acc", "cycles", "roofline")):
            text = (pathlib.Path(folder) / f"{name}.svg").read_text()
            holder = pathlib.Path(folder) / f"{name}.holder.html"
            holder.write_text(f"<!DOCTYPE html><title>{name}</title><body>{text}</body>")
            page.open(holder)
            look(f"matmul-light-{at}", drawn(page, "svg", 0))
            if PIL.ImageChops.invert(drawn(page, "svg", 0)).getbbox() is None:
                wrong.append(f"{name} is empty")
    left = sorted({file.name for file in STORED.glob("*.png")} - names)
    assert not wrong and not left, "\n".join(wrong + [f"{name} is a picture of nothing" for name in left])
    print(f"{len(names)} pictures")


if __name__ == "__main__":
    STORED.mkdir(exist_ok=True)
    main(*sys.argv[1:4], update="--update" in sys.argv)
