"""Opens the pages that report_pages and report_traces write in a browser, and does what a reader does: points at boxes and jobs, presses
keys, zooms, saves a picture, prints.

    page_test.py BROWSER report_pages report_traces
"""
import base64
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

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
    return page.ask("document.activeElement.dataset.row ?? document.activeElement.getAttribute('class') ?? ''")


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
    for _ in range(30):
        page.press("Tab")
        stops.append(focused(page))
        if stops[-1] == "line marked" or stops[-1] == "line":
            break
    boxes = [stop for stop in stops if stop.startswith("part-")]
    same(boxes, ["part-3-0", "part-5-0"], "boxes among the stops of the tab key")
    same(page.ask("document.querySelectorAll('.job [tabindex=\"0\"]').length"), 1, "stops in the timeline")
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


def job(page):
    """The job that has the focus, and what the details say of it."""
    focus, says = page.ask("document.activeElement.querySelector('title')?.textContent"), page.ask(f"{DETAILS}.innerText.replaceAll('\\n\\n', '\\n')")
    return focus and focus.split("\n")[0] + ", " + focus.split("\n")[1], says


def follows_jobs(page):
    """At matmul.html: the first jobs of the loader are 256 cycles of A.spad at 0, and 256 of B.spad at 320."""
    page.ask("document.querySelector('.job rect').focus()")
    found, says = job(page)
    same(found, "waits until mvin has filled A.spad, cycles 0 to 320 (320)", "the first wait")
    check("what would help: asynchronous() and buffers(2)" in says and "host" in says, f"no way out in {says!r}")
    page.press("ArrowDown")
    same(job(page)[0], "mvin A.spad, cycles 0 to 256 (256)", "the job below it")
    same(marked(page, ".box"), ["part-3-0"], "boxes that the job fills")
    page.press("ArrowRight")
    same(job(page)[0], "mvin B.spad, cycles 320 to 576 (256)", "the next job")
    same(marked(page, ".box"), ["part-4-0"], "boxes that the next job fills")
    same(marked(page, ".line"), ["5", "9"], "lines of its buffer")
    page.press("ArrowUp")
    same(job(page)[0], "waits until mvin has filled B.spad, cycles 320 to 640 (320)", "what the core does then")
    page.press("ArrowDown", 2)
    page.press("End")
    same(job(page)[0], "mvout C.acc, cycles 920,512 to 921,536 (1,024)", "the last store")
    page.press("Home")
    page.press("ArrowLeft")
    check("mvout C.acc" in job(page)[0], "nothing is before the first job")
    page.point_at(".job rect")
    check("cycles 0 to" in page.ask(f"{DETAILS}.textContent"), "no details of the job that is pointed at")


def zooms(page):
    """Keys, the wheel, dragging and buttons: what a picture shows, and what becomes of its marks."""
    shown = lambda what: page.ask(f"[...document.querySelector('{what}').querySelectorAll('.box:not(.out), .job:not(.out)')].length")
    edge = lambda row, name: page.ask(f"Number(document.querySelector('[data-row={row}] rect').getAttribute('{name}'))")
    every = shown("svg.time")
    page.ask("document.querySelector('.job rect').focus()")
    page.press("+", 3)
    fewer = shown("svg.time")
    check(0 < fewer < every / 2, f"{fewer} of {every} jobs after three steps in")
    check(page.ask("document.querySelectorAll('svg.time .own text').length") >= 2, "no cycles below what is zoomed")
    same(page.ask("[...document.querySelectorAll('svg.time .own text')].map((one) => one.textContent).reverse()"),
         ["2,000", "12,320", "14,320", "16,320", "26,640", "28,640"], "cycles of the beginning, of which 8,320 are left out at a time")
    page.press("ArrowRight", 3, shift=True)
    first = page.ask("[...document.querySelectorAll('svg.time .job:not(.out) title')].length")
    check(first > 0 and page.ask("document.querySelector('.job').classList.contains('out')"), "what is left of the part that is shown")
    page.press("ArrowRight", 4)
    check(page.ask("!document.activeElement.closest('.job').classList.contains('out')"), "the job with the focus is out of sight")
    page.press("0")
    same(shown("svg.time"), every, "jobs when all is shown")
    page.press("+")
    page.press("-")
    same(shown("svg.time"), every, "jobs one step in and one out")

    page.ask("document.querySelector('[data-row=part-4-0]').focus()")
    wide, high = edge("part-4-0", "width"), edge("part-4-0", "height")
    page.press("+")
    check(edge("part-4-0", "width") > wide and edge("part-4-0", "height") > high, "a memory zooms in both directions")
    page.press("0")
    same((edge("part-4-0", "width"), edge("part-4-0", "height")), (wide, high), "the box when all is shown")

    # The wheel is the page's, until a picture is clicked.
    page.ask("document.activeElement.blur()")
    at = page.middle("[data-row=part-4-0] rect")
    page.turn_wheel(at, -120)
    page.ask("new Promise((done) => setTimeout(done, 300))")
    same(edge("part-4-0", "width"), wide, "the box beneath a wheel that scrolls the page")
    at = page.middle("[data-row=part-4-0] rect")
    page.drag(at, at)
    same(focused(page), "part-4-0", "what was clicked")
    page.turn_wheel(at, -240)
    page.ask("new Promise((done) => setTimeout(done, 100))")
    check(edge("part-4-0", "width") > wide, "the wheel does nothing after a click")
    before = edge("part-4-0", "height")
    page.drag(at, (at[0], at[1] + 30))
    check(edge("part-4-0", "height") != before, "a picture that is zoomed does not move with the mouse")
    button = lambda text: page.ask(f"[...document.querySelector('svg.memory').parentElement.previousElementSibling.children].find((one) => one.textContent === '{text}').click()")
    button("all")
    same(edge("part-4-0", "width"), wide, "the box after the button")
    button("+")
    check(edge("part-4-0", "x") != edge("part-3-0", "x"), "the button does nothing")
    button("all")
    page.turn_wheel(page.middle("[data-row=part-5-0] rect"), -120, control=True)
    page.ask("new Promise((done) => setTimeout(done, 100))")
    check(page.ask("document.querySelectorAll('svg.memory.zoomed').length") == 1, "the wheel with Ctrl does nothing")
    page.ask("document.querySelectorAll('.tools button').forEach((one) => { if (one.textContent === 'all') one.click(); })")


def saves(page):
    """The button writes a document that needs no other: its colours are in it."""
    text = page.ask("""new Promise((done) => {
        URL.createObjectURL = (blob) => { blob.text().then(done); return 'blob:nothing'; };
        HTMLAnchorElement.prototype.click = function () { window.saved = this.download; };
        [...document.querySelector('svg.memory').parentElement.previousElementSibling.children].at(-1).click(); })""")
    same(page.ask("window.saved"), "spad.svg", "the name of the file")
    root = xml.etree.ElementTree.fromstring(text)
    same(root.tag, "{http://www.w3.org/2000/svg}svg", "what is saved")
    same(sum("box" == one.get("class", "").split(" ")[0] for one in root.iter()), 2, "boxes that are saved")
    style = root.find("{http://www.w3.org/2000/svg}style").text
    check(".hue0 { fill: #2a78d6;" in style and "var(" not in style, "colours that are names")


def apart(page):
    """No two boxes of a picture share a place, and all lie inside of it."""
    same(page.ask("""[...document.querySelectorAll('svg.memory')].flatMap((svg) => {
        const boxes = [...svg.querySelectorAll('.box rect')].map((one) => ['x', 'y', 'width', 'height'].map((name) => Number(one.getAttribute(name))));
        const [left, top, right, bottom] = svg.dataset.plot.split(' ').map(Number), slack = .02;
        const wrong = boxes.filter(([x, y, w, h]) => x < left - slack || y < top - slack || x + w > right + slack || y + h > bottom + slack);
        boxes.forEach((a, at) => boxes.slice(at + 1).forEach((b) => {
            if (a[0] + slack < b[0] + b[2] && b[0] + slack < a[0] + a[2] && a[1] + slack < b[1] + b[3] && b[1] + slack < a[1] + a[3]) wrong.push(a); }));
        return wrong; })"""), [], "boxes that overlap or lie outside")


def fluid(page):
    """At many.html: a step of the zoom or of the mouse changes what it shows and nothing else, and takes little time of the processor."""
    same(page.ask("""(() => {
        const svg = document.querySelector('svg.memory'), boxes = [...svg.querySelectorAll('.box')], watch = new MutationObserver(() => {});
        const seen = () => new Set(boxes.filter((one) => !one.classList.contains('out')));
        const zoom = (key) => boxes[0].dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
        let moves = 0;
        const point = (box) => box.dispatchEvent(new PointerEvent('pointerover', { bubbles: true, screenX: ++moves }));
        watch.observe(document.body, { attributes: true, childList: true, subtree: true });
        boxes[0].focus();
        for (let at = 0; at < 8; ++at) zoom('+');
        const before = seen();
        watch.takeRecords();
        zoom('+');
        const after = seen(), steps = watch.takeRecords();
        const changed = new Set(steps.map((one) => one.target.closest('.box')).filter(Boolean));
        const unread = steps.filter((one) => one.target.matches('text.off') && one.attributeName !== 'class').length;
        zoom('0');
        point(boxes[10]);
        watch.takeRecords();
        point(boxes[20]);
        const moved = watch.takeRecords().filter((one) => !one.target.closest('#details'));
        return { few: before.size < boxes.length / 8 && before.size > after.size, made: steps.filter((one) => one.type === 'childList').length,
                 beyond: [...changed].filter((one) => !before.has(one) && !after.has(one)).length,
                 unread,
                 moved: moved.slice(0, 4).map((one) => [boxes.indexOf(one.target), one.attributeName]) }; })()"""),
         {"few": True, "made": 0, "beyond": 0, "unread": 0, "moved": [[10, "class"], [20, "class"]]}, "what steps change")

    # All parts of a picture would inherit its shape of the pointer, and be styled anew.
    page.press("+")
    same(page.ask("[document.querySelector('svg.memory'), document.querySelector('svg.memory .ground')].map((one) => getComputedStyle(one))"
                  ".map((one) => [one.cursor, one.touchAction])"), [["auto", "auto"], ["grab", "pan-y"]], "where a picture can be moved")

    # Time of the page's thread alone: other programs do not count.
    page.call("Performance.enable", timeDomain="threadTicks")
    metrics = lambda: {one["name"]: one["value"] for one in page.call("Performance.getMetrics")["metrics"]}
    page.ask("window.boxes = [...document.querySelectorAll('.box')], boxes[0].focus()")
    for what, step, most in (("zoom", "boxes[0].dispatchEvent(new KeyboardEvent('keydown', { key: at % 2 ? '+' : '-', bubbles: true }))", 25),
                             ("mouse", "boxes[37 * at % 1000].dispatchEvent(new PointerEvent('pointerover', { bubbles: true, screenX: at }))", 25)):
        before = metrics()
        page.ask(f"""new Promise((done) => {{
            let at = 30;
            const next = () => {{
                if (at-- === 0) return done();
                {step};
                requestAnimationFrame(next); }};
            next(); }})""")
        spent = 1000 * (metrics()["ScriptDuration"] - before["ScriptDuration"]) / 30
        check(0 < spent < most, f"a step of the {what} takes {spent:.1f} ms of script")
    page.call("Performance.disable")
    page.press("0")


def runs(page):
    """Below each row of the plan what was executed stands at the same place."""
    rows = page.ask("""[...document.querySelectorAll('svg.time .lane')].map((lane) => [lane.getAttribute('aria-label'),
        [...lane.querySelectorAll('.job rect')].map((one) => [Number(one.getAttribute('x')), Number(one.getAttribute('width'))])])""")
    same([name for name, _ in rows], ["host", "executed", "loader", "executed", "storer", "executed", "array", "executed"], "rows")
    for at in (2, 4):
        check(len(rows[at][1]) > 3, f"no jobs of {rows[at][0]}")
        same(rows[at][1], rows[at + 1][1], rows[at][0])
    same(page.ask("document.querySelectorAll('tr.equal').length"), 9, "rows of the comparison that are equal")


def programs(page):
    """At program.html: what is pointed at, in the layers and in the memories."""
    page.point_at(".job rect")
    same(title(page), "k0", "the layer that is pointed at")
    page.point_at("[data-row='place-t0']")
    same((title(page), detail(page, "extents"), detail(page, "type")), ("t0", "[10, 10]", "int32"), "a tensor")
    same((detail(page, "bytes"), detail(page, "steps")), ("400", "0 to 1"), "where a tensor lies")
    same(page.ask("[...document.querySelectorAll('.line.marked')].map((one) => one.cells[1].textContent)"), ["k0", "t0.act"], "layers that touch it")
    page.ask("document.querySelector('#layer-k1').open = true")
    page.point_at("#layer-k1 [data-row^='k1-part-']")
    same(title(page), "x.spad", "a buffer of a layer")
    same(page.ask("document.querySelectorAll('[id]').length === new Set([...document.querySelectorAll('[id]')].map((one) => one.id)).size"), True,
         "ids are those of one element")


def narrow(page):
    """Nothing but pictures and tables, each in its place, is wider than a small screen."""
    check(page.ask("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than the screen")
    same(page.ask("getComputedStyle(document.querySelector('aside')).display"), "none", "details before anything is pointed at")
    page.ask("document.querySelector('.box').focus()")
    same(page.ask("getComputedStyle(document.querySelector('aside')).display"), "block", "details of a box")


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
    page.call("Emulation.setEmulatedMedia", media="print", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    same(page.ask("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('.hue0')).fill, getComputedStyle(document.querySelector('.tools')).display]"),
         ["rgb(255, 255, 255)", "rgb(42, 120, 214)", "none"], "colours and buttons on paper, of a reader who likes it dark")
    same(page.ask("document.querySelectorAll('details:not([open])').length"), 0, "tables that are not printed")


def fits(page, name):
    """Nothing reaches beyond a sheet of A4. Browsers take it as at least 4/3 as wide as it is, in letters of their size, so 957 units."""
    page.call("Emulation.setEmulatedMedia", media="print", features=[])
    page.resize(957, 1350)
    same(page.ask("""(() => { const end = document.documentElement.clientWidth + 1; return [...document.body.querySelectorAll('*')].filter(
        (one) => one.getBoundingClientRect().width > 0 && one.getBoundingClientRect().right > end).map((one) => one.outerHTML.slice(0, 80)); })()"""),
         [], f"what is cut off on paper of {name}")


def main(program, pages, traces):
    with tempfile.TemporaryDirectory() as folder, Browser(program) as page:
        subprocess.run([pages, folder], check=True)
        subprocess.run([traces, folder], check=True)
        at = pathlib.Path(folder)

        def quiet(name):
            same(page.complaints(), [], f"what the browser complains about in {name}")

        for scheme in ("light", "dark"):
            page.open(at / "matmul.html", scheme)
            looks(page, scheme)
            apart(page)
            points(page)
            presses(page)
            follows_jobs(page)
            zooms(page)
            for name in ("two_blocks.html", "cores.html", "documented.html", "program.html", "trace.html", "team.html"):
                page.open(at / name, scheme)
                looks(page, scheme)
                apart(page)
                check(page.ask("document.querySelectorAll('.box').length") > 2, f"no boxes in {name}")
            quiet(scheme)
        page.open(at / "matmul.html")
        prints(page)
        saves(page)
        page.open(at / "trace.html")
        runs(page)
        page.open(at / "program.html")
        programs(page)

        page.open(at / "many.html")
        same(page.ask("document.querySelectorAll('.box').length"), 1000, "boxes of 1,000 versions")
        looks(page, "light")
        apart(page)
        fluid(page)
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

        for name in ("matmul.html", "two_blocks.html", "cores.html", "program.html", "trace.html", "team.html"):
            page.open(at / name)
            fits(page, name)
        page.call("Emulation.setEmulatedMedia", media="", features=[])
        page.resize(390, 844)
        for name in ("matmul.html", "program.html", "cores.html"):
            page.open(at / name)
            narrow(page)
        quiet("small screens")


if __name__ == "__main__":
    main(*sys.argv[1:])
