# SPDX-License-Identifier: Apache-2.0
"""The report's page in Chromium without a window: its script runs without an error, draws the timeline, zooms, names what the pointer is
at, and sorts tables; nothing is wider than a telephone. Skipped where no Chromium is installed."""
import html
import json
import os
import re
import shutil
import subprocess
import unittest

from test_report_page import InFolder, line, report, row, trace  # the reports and traces that its tests read
from gpushim import report_data, report_page, report_timeline  # test_report_page has put their folder on the path

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
LIMIT_S = 60
# A browser without a window draws few frames.
FRAMES = "<head><script>window.requestAnimationFrame = draw => setTimeout(draw, 16);</script>"
# Uses the page as a reader does; the title tells what was seen.
READER = """<script>
const seen = {}, canvas = document.querySelector("canvas"), tip = document.getElementById("tip");
const drawn = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(canvas.toDataURL()))));
const names = table => [...table.tBodies[0].rows].map(row => row.cells[0].textContent.trim());
async function use() {
  const whole = await drawn(), pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data, colours = new Set();
  for (let k = 0; k < pixels.length; k += 4) if (pixels[k + 3] === 255) colours.add((pixels[k] << 16) + (pixels[k + 1] << 8) + pixels[k + 2]);
  seen.colours = colours.size;
  document.getElementById("closer").click();
  seen.zoomed = await drawn() !== whole;
  document.getElementById("all").click();
  seen.back = await drawn() === whole;
  canvas.dispatchEvent(new KeyboardEvent("keydown", {key: "+"}));
  seen.keyed = await drawn() !== whole;
  canvas.dispatchEvent(new KeyboardEvent("keydown", {key: "0"}));
  const box = canvas.getBoundingClientRect(), tips = new Set();
  for (let y = 2; y < box.height; y += 4)
    for (let x = 0; x < box.width; x += 4) {
      canvas.dispatchEvent(new PointerEvent("pointermove", {clientX: box.left + x, clientY: box.top + y}));
      if (!tip.hidden) tips.add(tip.firstChild.textContent);
    }
  seen.tips = [...tips].sort();
  const table = document.querySelector("table[data-sorts]"), button = table.querySelector("th button");
  button.click();
  seen.down = names(table);
  button.click();
  seen.up = names(table);
  seen.wide = document.documentElement.scrollWidth - window.innerWidth;
  document.title = JSON.stringify(seen);
}
use();
</script></body>"""


@unittest.skipUnless(BROWSER, "none of %s is installed" % ", ".join(BROWSERS))
class TestBrowser(InFolder):
    def browse(self, text, width):
        """(the document after its scripts, what they wrote to the console) of a page in a window of that width."""
        path = self.write("page.html", text)
        ended = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-logging=stderr", "--virtual-time-budget=20000",
                                "--user-data-dir=" + os.path.join(self.folder, "profile"), "--window-size=%d,900" % width, "--dump-dom",
                                "file://" + path], capture_output=True, text=True, timeout=LIMIT_S)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return ended.stdout, [each for each in ended.stderr.splitlines() if "CONSOLE" in each]

    def page(self):
        rows = [row("add", 5), row("sort", 0, 3, dtype=3), row("exp", 2)]
        made = report(rows=rows, lines=[line(advice="take the whole row")])
        return report_page.page(report_data.merge([made]), report_timeline.read([self.write("trace.json", trace())]))

    def read(self, width):
        document, errors = self.browse(self.page().replace("<head>", FRAMES).replace("</body>", READER), width)
        self.assertEqual(errors, [])
        return json.loads(html.unescape(re.search("<title>(.*?)</title>", document).group(1)))

    def test_on_a_screen(self):
        seen = self.read(1200)
        self.assertGreater(seen["colours"], 3)
        self.assertEqual((seen["zoomed"], seen["back"], seen["keyed"]), (True, True, True))
        self.assertEqual(seen["tips"], ["add dd->d", "device memory", "dot", "transfer"])
        self.assertEqual(sorted(seen["down"]), ["add d->d", "exp d->d", "sort d->d"])
        self.assertEqual(seen["down"], seen["up"][::-1])
        self.assertLessEqual(seen["wide"], 0)

    def test_on_a_telephone(self):
        seen = self.read(500)
        self.assertGreater(seen["colours"], 3)
        self.assertLessEqual(seen["wide"], 0)

    def test_an_error_of_the_script_is_seen(self):
        _, errors = self.browse(self.page().replace("context.clearRect(", "context.clearRectangle("), 1200)
        self.assertTrue(any("clearRectangle is not a function" in each for each in errors), errors)


if __name__ == "__main__":
    unittest.main()
