"""Pictures to show and ways to compare them."""

import subprocess

import numpy as np
from PIL import Image, ImageDraw, ImageFont

FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf"


def text_page(width, height, seed=1, size=15):
    """A page of dark text on white, as an editor shows it; without colour, so that 4:2:0 loses nothing."""
    rng = np.random.default_rng(seed)
    image = Image.new("RGB", (width, height), (255, 255, 255))
    draw = ImageDraw.Draw(image)
    font = ImageFont.truetype(FONT, size)
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789{}[]();:=+-*/.,"
    for y in range(4, height - size, size + 5):
        words = ["".join(rng.choice(list(letters), rng.integers(2, 11))) for _ in range(width // 60)]
        draw.text((8, y), " ".join(words), font=font, fill=(20, 20, 20))
    return np.asarray(image)


def luma(image):
    return image.astype(np.float64) @ np.array([0.299, 0.587, 0.114])


def psnr(a, b):
    error = np.mean((a.astype(np.float64) - b.astype(np.float64)) ** 2)
    return 99.0 if error == 0 else 10 * np.log10(255.0 ** 2 / error)


def decoded(path):
    """How many pictures of a file's first video can be decoded."""
    shown = subprocess.run(["ffprobe", "-v", "quiet", "-select_streams", "v:0", "-count_frames", "-show_entries",
                            "stream=nb_read_frames", "-of", "csv=p=0", str(path)], capture_output=True, text=True)
    return int(shown.stdout.strip() or 0) if shown.stdout.strip().isdigit() else 0


PAGE_SIZE = (1280, 720)


def coloured_page(width, height, seed=1):
    """Coloured text on coloured ground: what 4:2:0 cannot show."""
    text = text_page(width, height, seed=seed).astype(float) / 255
    ground, ink = np.zeros((height, width, 3)), np.zeros((height, width, 3))
    for i in range(8):
        band = slice(i * height // 8, (i + 1) * height // 8)
        ground[band] = np.array([(30, 30, 60), (250, 240, 200), (0, 60, 0), (255, 255, 255)][i % 4])
        ink[band] = np.array([(255, 120, 40), (160, 0, 160), (90, 255, 90), (0, 0, 200)][i % 4])
    return np.rint(text * ground + (1 - text) * ink).astype(np.uint8)
