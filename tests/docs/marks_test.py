#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""README.md and docs/*.md: each block says what it is; what is done is played (pages_test.py), unless
a reason is given; and what a page refers to is there."""

import os
import pathlib
import re
import unittest

import page

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(.*)$", re.M)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
HEADING = re.compile(r"^#+ (.+)$", re.M)
KINDS = page.DONE | {"nginx", "text", "yaml"}
WORDS = ("not run:", "needs:")


def pages_below(top):
    """Those of the sources. A build tree may have whole systems in it, and be changed meanwhile."""
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if name not in ("build", "node_modules")]
        if "CMakeCache.txt" in names:
            folders.clear()
        else:
            yield from (pathlib.Path(folder, name) for name in names if name.endswith(".md"))


# Every page, ours and those of the rooms.
EVERY = sorted(pages_below(ROOT))


def anchors(path):
    """The valid names behind # in a link."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
            for heading in HEADING.findall(text)}


class Marks(unittest.TestCase):
    def test_each_block_is_of_a_kind_that_is_known(self):
        for path in PAGES:
            fences = FENCE.findall(path.read_text(encoding="utf-8"))
            self.assertEqual(len(fences) % 2, 0, path.name)
            for opens, closes in zip(fences[::2], fences[1::2]):
                self.assertIn(opens, KINDS, path.name)
                self.assertEqual(closes, "", path.name)

    def test_each_block_is_seen_by_who_plays_them(self):
        for path in PAGES:
            text = path.read_text(encoding="utf-8")
            seen = [block for part in page.sections(path).values() for block in page.blocks(part)]
            self.assertEqual(len(seen), len(FENCE.findall(text)) // 2, path.name)

    def test_what_is_not_run_has_a_reason(self):
        for path in PAGES:
            for block in page.blocks(path.read_text(encoding="utf-8")):
                reason = page.remark(block, "not run:")
                self.assertTrue(reason is None or len(reason.split()) > 2, f"{path.name}: {reason}")

    def test_remarks_stand_right_above_a_block(self):
        for path in PAGES:
            text = path.read_text(encoding="utf-8")
            used = sum(len(block.remarks) for block in page.blocks(text))
            self.assertEqual(len(page.REMARK.findall(text)), used, path.name)
            for block in page.blocks(text):
                for said in block.remarks:
                    self.assertTrue(said.startswith(WORDS) or " stands for: " in said, said)

    def test_commands_are_in_blocks_that_are_fenced(self):
        for path in PAGES:
            text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
            self.assertIsNone(re.search(r"\n\n {4}\S", text), path.name)

    def test_the_commands_that_begin_the_readme_are_commands_of_the_tree(self):
        block = page.blocks(PAGES[0].read_text(encoding="utf-8"))[0]
        words = re.findall(r"^\./tandem (\w+)", block.text, re.M)
        self.assertEqual(words, ["up", "test"])
        script = (ROOT / "tandem").read_text(encoding="utf-8")
        for word in words:
            self.assertRegex(script, rf"(?m)^\s*{word}\)")

    def test_the_cookbook_has_ten_recipes_each_with_a_session(self):
        recipes = {title: text for title, text in page.sections(ROOT / "docs/COOKBOOK.md").items()
                   if re.match(r"\d+\. ", title)}
        self.assertEqual([int(title.split(".")[0]) for title in recipes], list(range(1, 11)))
        for title, text in recipes.items():
            self.assertIn("console", [block.kind for block in page.blocks(text)], title)

    def test_operating_says_what_to_do_of_each_alert(self):
        rules = (ROOT / "conf/tandem-alerts.yml").read_text(encoding="utf-8")
        page_text = (ROOT / "docs/OPERATING.md").read_text(encoding="utf-8")
        told = re.findall(r"`(Tandem\w+)`", page_text)
        self.assertEqual(sorted(told), sorted(re.findall(r"- alert: (\w+)", rules)))

    def test_what_pages_refer_to_is_there(self):
        for path in EVERY:
            for target, anchor in LINK.findall(path.read_text(encoding="utf-8")):
                found = (path.parent / target).resolve() if target else path
                self.assertTrue(found.exists(), f"{path.relative_to(ROOT)}: {target}")
                if anchor and found.suffix == ".md":
                    self.assertIn(anchor, anchors(found), f"{path.relative_to(ROOT)}: {target}")


if __name__ == "__main__":
    unittest.main()
