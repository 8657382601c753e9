"""Pictures that visitors bring: read as Pillow has them, bounded, and said what is wrong with one."""

from __future__ import annotations

import contextlib
import io
import struct
import threading
import zlib

import numpy as np
import pytest

from attnviz import ConfigError
from attnviz.models.images.uploaded import LONGEST, KeptImages, is_named
from attnviz.uploads import read_image

Image = pytest.importorskip("PIL.Image")


def written(array: np.ndarray, kind: str, **more: object) -> bytes:
    out = io.BytesIO()
    Image.fromarray(array).save(out, kind, **more)
    return out.getvalue()


def noise(height: int, width: int, depth: int = 3) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (height, width, depth), dtype=np.uint8)


def test_a_png_is_its_pixels_and_a_jpeg_nearly() -> None:
    image = noise(20, 30)
    np.testing.assert_array_equal(read_image.read(written(image, "PNG")), image)
    smooth = np.broadcast_to(np.linspace(0, 255, 30).astype(np.uint8)[None, :, None], (20, 30, 3)).copy()
    found = read_image.read(written(smooth, "JPEG", quality=95))
    assert found.shape == (20, 30, 3)
    assert np.abs(found.astype(int) - smooth).max() < 12
    grey = read_image.read(written(image[..., 0], "PNG"))
    np.testing.assert_array_equal(grey, np.repeat(image[..., :1], 3, axis=2))


def test_grey_of_sixteen_digits_keeps_its_shades() -> None:
    fine = (noise(8, 8, 1)[..., 0].astype(np.uint16) << 8) + 77
    np.testing.assert_array_equal(read_image.read(written(fine, "PNG"))[..., 0], fine >> 8)


def test_what_is_clear_is_white_and_a_picture_is_turned_as_its_camera_says() -> None:
    image = noise(8, 8, 4)
    image[..., 3] = 0
    assert (read_image.read(written(image, "PNG")) == 255).all()
    plain = Image.fromarray(noise(10, 20))
    exif = plain.getexif()
    exif[0x0112] = 6
    out = io.BytesIO()
    plain.save(out, "PNG", exif=exif)
    assert read_image.read(out.getvalue()).shape == (20, 10, 3)


def test_a_large_picture_is_made_smaller() -> None:
    assert read_image.read(written(np.zeros((900, 1800, 3), np.uint8), "PNG")).shape == (LONGEST // 2, LONGEST, 3)
    assert read_image.read(written(np.zeros((1800, 900, 3), np.uint8), "JPEG")).shape == (LONGEST, LONGEST // 2, 3)


def test_a_large_picture_of_any_kind_is_made_smaller_by_mixing_its_pixels() -> None:
    stripes = np.tile(np.array([0, 255], np.uint8), (40, 2 * LONGEST))  # as fine as pixels: smaller, all is grey
    grey = Image.fromarray(stripes)
    kinds = {mode: grey.convert(mode) for mode in ("L", "RGB", "RGBA", "LA", "P", "1")}
    kinds["I;16"] = Image.fromarray(stripes.astype(np.uint16) * 257)
    for mode, picture in kinds.items():
        out = io.BytesIO()
        picture.save(out, "PNG")
        found = read_image.read(out.getvalue())
        assert found.shape == (10, LONGEST, 3), mode
        assert np.abs(found[:, 4:-4].astype(int) - 127).max() < 20, mode


def test_one_picture_is_read_at_a_time() -> None:
    data, read = written(noise(4, 4), "PNG"), threading.Event()
    thread = threading.Thread(target=lambda: (read_image.read(data), read.set()))
    with read_image._one_at_a_time:
        thread.start()
        assert not read.wait(0.2), "it waits for the one before it"
    thread.join()
    assert read.is_set()


def bomb(width: int, height: int) -> bytes:
    """A PNG whose head promises this many pixels."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no picture that can be read here; upload a PNG or a JPEG"),
        (b"the cat sat", "no picture that can be read here"),
        (b"GIF89a" + bytes(50), "no picture that can be read here"),
        (bytes(5_000_001), "the file has 5,000,001 bytes; a picture may have 5,000,000"),
        (bomb(5_000, 5_000), "the picture has more than the 16,000,000 pixels that are read here; make it smaller"),
        (bomb(60_000, 60_000), "the picture has more than the 16,000,000 pixels"),
        (bomb(200, 200), "the picture is damaged, and cannot be read to its end"),
    ],
)
def test_what_cannot_be_read_is_said(data: bytes, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_image.read(data)


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_file_that_was_cut_never_ends_otherwise(kind: str) -> None:
    whole = written(noise(40, 40), kind)
    for end in range(0, len(whole) - 20, 97):
        with contextlib.suppress(ConfigError):
            assert read_image.read(whole[:end]).shape[2] == 3


def test_a_few_are_kept_and_those_that_were_wanted_longest_ago_go() -> None:
    kept = KeptImages(most=2)
    first, second = kept.keep(noise(2, 2)), kept.keep(noise(2, 3))
    assert first == kept.keep(noise(2, 2))
    assert is_named(first)
    assert first != second
    kept.get(second)
    kept.get(first)
    kept.keep(noise(3, 3))
    np.testing.assert_array_equal(kept.get(first), noise(2, 2))
    with pytest.raises(ConfigError, match="was uploaded, which no link holds, and is kept here no longer; upload"):
        kept.get(second)
