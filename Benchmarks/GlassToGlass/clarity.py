"""Joins crops of what `measure.py desktop --pictures FOLDER` saved into clarity.png: the same place of three contents, as each sender shows it.

    .build/venv/bin/python Benchmarks/GlassToGlass/clarity.py FOLDER [Benchmarks/clarity.png]
"""

import sys
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "Tests/EndToEnd"), str(Path(__file__).resolve().parent)]

from harness.pictures import FONT  # noqa: E402
from senders import SENDERS  # noqa: E402

# Content, and left, top, right and bottom of the crop.
CROPS = [("scroll", (60, 420, 420, 580)), ("drag", (60, 420, 420, 580)), ("video", (60, 420, 420, 580))]
LABEL = 22


def main():
    folder = Path(sys.argv[1])
    target = sys.argv[2] if len(sys.argv) > 2 else Path(__file__).resolve().parents[1] / "clarity.png"
    font = ImageFont.truetype(FONT, 14)
    senders = [name for name in SENDERS if (folder / f"{name}.scroll.png").exists()]
    width, height = CROPS[0][1][2] - CROPS[0][1][0], CROPS[0][1][3] - CROPS[0][1][1]
    sheet = Image.new("RGB", (len(CROPS) * (width + 6), len(senders) * (height + LABEL)), "white")
    pen = ImageDraw.Draw(sheet)
    for row, sender in enumerate(senders):
        for column, (content, crop) in enumerate(CROPS):
            at = column * (width + 6), row * (height + LABEL)
            pen.text((at[0] + 4, at[1] + 3), f"{SENDERS[sender].title.replace('**', '')}, {content}", fill="black", font=font)
            sheet.paste(Image.open(folder / f"{sender}.{content}.png").crop(crop), (at[0], at[1] + LABEL))
    sheet.save(target, optimize=True)


main()
