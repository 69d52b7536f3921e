"""Opens the pages that report_pages writes in a browser, and does what a reader does: points at boxes, presses keys, prints.

    page_test.py BROWSER report_pages
"""
import base64
import pathlib
import subprocess
import sys
import tempfile

from browser import Browser

DETAILS = "document.getElementById('details')"


def check(is_so, what):
    if not is_so:
        raise AssertionError(what)


def same(found, expected, what):
    check(found == expected, f"{what}: {found!r}, not {expected!r}")


def title(page):
    return page.ask(f"{DETAILS}.querySelector('h3')?.textContent")


def detail(page, name):
    return page.ask(f"[...{DETAILS}.querySelectorAll('dt')].find((one) => one.textContent === '{name}')?.nextSibling.textContent")


def focused(page):
    return page.ask("document.activeElement.dataset.row ?? document.activeElement.className")


def marked(page, kind):
    return page.ask(f"[...document.querySelectorAll('{kind}.marked')].map((one) => one.dataset.row ?? one.cells[0].textContent)")


def points(page):
    """At matmul.html: B.spad is box 4 of the plan; lines 5 and 9 touch it."""
    page.point_at("[data-row=part-4-0]")
    same(title(page), "B.spad", "what is pointed at")
    for name, value in {"extents": "[64, 64]", "type": "int8", "bytes": "4,096", "offset": "4,096",
                        "address": "0x50001000 to 0x50002000", "alive": "lines 5 to 9, each ko",
                        "asked for by": "cache_read(B, spad).at(ko).by(mvin)"}.items():
        same(detail(page, name), value, name)
    check(int(detail(page, "source line")) > 0, "no line of the source")
    same(marked(page, ".line"), ["5", "9"], "lines that touch the buffer")
    same(marked(page, ".box"), ["part-4-0"], "boxes that are marked")
    page.point_at("tr.line:nth-child(9) td")
    same(marked(page, ".box"), ["part-3-0", "part-4-0", "part-5-0"], "boxes that line 9 touches")
    page.ask("new Promise((done) => { scrollBy(0, 40); setTimeout(done, 500); })")
    same(marked(page, ".box"), ["part-3-0", "part-4-0", "part-5-0"], "boxes when the page has scrolled beneath the mouse")
    page.point_at("tr.line:nth-child(3) td")
    same(marked(page, ".box"), [], "boxes that a loop touches")
    page.point_at("#part-5-0 td")
    same(title(page), "C.acc", "the row that is pointed at")
    same(page.ask("document.querySelector('.box.shown').dataset.row"), "part-5-0", "the box of that row")
    page.press("Escape")
    same(marked(page, "[data-buffers]"), [], "what Escape leaves")


def presses(page):
    """Each picture and the program are one stop of the tab key."""
    page.ask("document.activeElement.blur()")
    stops = []
    for _ in range(8):
        page.press("Tab")
        stops.append(focused(page))
        if stops[-1] == "line marked" or stops[-1] == "line":
            break
    boxes = [stop for stop in stops if stop.startswith("part-")]
    same(boxes, ["part-3-0", "part-5-0"], "boxes among the stops of the tab key")
    check(stops[-1].startswith("line"), f"no line among the stops {stops}")
    page.press("ArrowDown", 4)
    same(page.ask("document.activeElement.cells[0].textContent"), "5", "four lines further down")
    same(marked(page, ".box"), ["part-4-0"], "boxes that the line touches")
    page.press("End")
    same(page.ask("document.activeElement.cells[0].textContent"), "10", "the last line")
    page.ask("document.querySelector('[data-row=part-3-0]').focus()")
    same(title(page), "A.spad", "what has the focus")
    page.press("ArrowUp")
    same((focused(page), title(page)), ("part-4-0", "B.spad"), "one box up")
    page.press("ArrowUp")
    same(focused(page), "part-4-0", "beyond the last box")
    page.press("ArrowLeft")
    same((focused(page), title(page)), ("part-3-0", "A.spad"), "one box back")
    page.press("End")
    same(focused(page), "part-4-0", "the last box")
    page.press("Home")
    same(focused(page), "part-3-0", "the first box")


def looks(page, scheme):
    """Letters and ground differ, and each box is seen and has a name."""
    light = """((colour) => { const [r, g, b] = colour.match(/[0-9.]+/g).map(Number); return (2 * r + 5 * g + b) / 8; })"""
    ground, ink = (page.ask(f"{light}(getComputedStyle(document.body).{what})") for what in ("backgroundColor", "color"))
    check(ground > 230 and ink < 60 if scheme == "light" else ground < 60 and ink > 200, f"{scheme}: {ink} on {ground}")
    same(page.ask("[...document.querySelectorAll('.box')].filter((one) => { const at = one.getBoundingClientRect();"
                  " return !(at.width > 0 && at.height > 0 && one.getAttribute('aria-label')); }).length"), 0, "boxes without area or name")
    same(page.ask("[...document.querySelectorAll('svg')].filter((one) => one.ariaHidden !== 'true' && !one.getAttribute('aria-label')).length"), 0,
         "pictures without a name")


def prints(page):
    page.ask("document.querySelectorAll('details').forEach((one) => { one.open = false; })")
    paper = base64.b64decode(page.call("Page.printToPDF")["data"])
    check(paper.startswith(b"%PDF"), "no paper")
    same(page.ask("document.querySelectorAll('details:not([open])').length"), 0, "tables that are not printed")


def main(program, pages):
    with tempfile.TemporaryDirectory() as folder, Browser(program) as page:
        subprocess.run([pages, folder], check=True)
        at = pathlib.Path(folder)

        def quiet(name):
            same(page.complaints(), [], f"what the browser complains about in {name}")

        for scheme in ("light", "dark"):
            page.open(at / "matmul.html", scheme)
            looks(page, scheme)
            points(page)
            presses(page)
            for name in ("two_blocks.html", "cores.html", "documented.html"):
                page.open(at / name, scheme)
                looks(page, scheme)
                check(page.ask("document.querySelectorAll('.box').length") > 2, f"no boxes in {name}")
            quiet(scheme)
        page.open(at / "matmul.html")
        prints(page)

        page.open(at / "many.html")
        same(page.ask("document.querySelectorAll('.box').length"), 1000, "boxes of 1,000 versions")
        looks(page, "light")
        page.point_at("[data-row=part-4-399]")
        same(title(page), "B.spad v399", "one of 1,000")
        same(page.ask("document.querySelectorAll('.box.marked').length"), 400, "boxes of its buffer")

        page.open(at / "odd.html")
        page.point_at(".box")
        same(title(page), "in.<b>&\"'</script>", "a name of odd letters")
        same(page.ask("document.querySelectorAll('b').length"), 0, "elements that a name made")

        page.open(at / "refused.html")
        check("refused: `m`: factor is 0" in page.ask("document.querySelector('[role=alert]').textContent"), "no verdict")
        same(page.ask("document.querySelectorAll('svg, table').length"), 0, "pictures of a refused plan")
        quiet("the last page")


if __name__ == "__main__":
    main(*sys.argv[1:])
