"""The models that a host offers: opened by what its owner says, named by a setting, and by nothing else."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from attnviz import Config, ConfigError, command, run
from attnviz.engine.cost import estimate as cost
from attnviz.engine.cost import sizes as run_sizes
from attnviz.engine.pretrained.model_registry import MODELS, find
from attnviz.engine.pretrained.pretrained_config import PretrainedConfig
from attnviz.models import boxed, hosting
from attnviz.settings import url_codec
from attnviz.ui.session.selection import Selection
from tests.support.cases import for_each
from tests.support.needs import NEEDS
from tests.support.small_models import FOLDER, model

WORDS = "the cat sat on the mat"
HOSTILE = (
    "../../etc/passwd",
    "/etc/passwd",
    "%2e%2e%2f%2e%2e",
    "..",
    "bert/../bert",
    "bert\x00",
    "bert~",
    "bert~../../x",
    "BERT",
    "ｂｅｒｔ",
    "a" * 5_000,
    "bert=/etc",
)


@pytest.fixture
def bert() -> Iterator[str]:
    """The small BERT offered; its name in a link."""
    hosting.offer([f"bert={FOLDER / 'bert'}"])
    yield f"bert~{MODELS['bert'].digest}"
    MODELS.clear()


def test_a_setting_names_a_model_and_its_run_is_the_models(bert: str) -> None:
    trace, alone = run(Config(sentence=WORDS, model=bert)), model("bert")(WORDS)
    assert isinstance(trace.config, PretrainedConfig)
    for layer, other in zip(trace.layers, alone.layers, strict=True):
        np.testing.assert_array_equal(layer["weights"].array, other["weights"].array)
    np.testing.assert_array_equal(run(trace.config).result.array, trace.result.array)


def test_masks_temperature_and_edits_reach_the_model(bert: str) -> None:
    config = Config(sentence=WORDS, model=bert, mask="causal", temperature=2.0, edits=((0, "weights", (0, 1, 0), 1.0),))
    trace = run(config)
    assert np.triu(trace.layers[0]["weights"].array, 1).max() == 0
    assert trace.layers[0]["weights"].array[0, 1, 0] == 1.0
    assert (trace.layers[1]["scores"].array != run(replace(config, edits=())).layers[1]["scores"].array).any()


def test_a_link_holds_the_setting_as_it_was_chosen(bert: str) -> None:
    config = Config(sentence=WORDS, model=bert, d_model=64, seed=7, mask="window", reach=1)
    chosen = run(config).config
    assert chosen.chosen == config
    query = url_codec.encode(chosen, Selection())
    assert query["model"] == bert
    assert "n_layers" not in query
    (again, _), problems = url_codec.decode(query, Config, Selection)
    assert (again, problems) == (config, [])
    changed = replace(chosen, mask="causal", edits=((0, "weights", (0, 0, 0), 0.5),)).chosen  # type: ignore[arg-type]
    assert changed == replace(config, mask="causal", edits=((0, "weights", (0, 0, 0), 0.5),))


def test_the_mask_of_a_decoder_is_not_taken_for_a_choice() -> None:
    hosting.offer([f"gpt2={FOLDER / 'gpt2'}"])
    try:
        config = Config(sentence="the cat", model="gpt2")
        trace = run(config)
        assert trace.config.mask == ("causal",)
        assert trace.config.chosen == config
    finally:
        MODELS.clear()


@for_each("name", HOSTILE)
def test_what_a_visitor_writes_is_only_ever_a_key(bert: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*_: object, **__: object) -> None:
        raise AssertionError("a visitor's name was opened")

    with monkeypatch.context() as patched:
        for owner, of in ((Path, "open"), (Path, "is_file"), (Path, "is_dir"), (Path, "read_text")):
            patched.setattr(owner, of, opened)
        assert find(name) is None
        (config, _), problems = url_codec.decode({"model": name, "sentence": WORDS}, Config, Selection)
    assert (config.model, config.sentence) == ("", WORDS)
    assert problems[0].startswith("Model was ")
    assert problems[0].endswith("; none is used.")
    assert len(problems[0]) < 200
    with pytest.raises(ConfigError, match="model is"):
        Config(model=name)


@pytest.mark.parametrize("written", ["tiny", "bert~00000000"])
def test_a_host_without_the_model_says_so_and_keeps_the_name(bert: str, written: str) -> None:
    config = Config(sentence=WORDS, model=written)
    trace = run(config)
    assert trace.config == config
    assert "keeps the name" in trace.notes[0]
    np.testing.assert_array_equal(trace.result.array, run(Config(sentence=WORDS)).result.array)
    assert url_codec.encode(trace.config)["model"] == written


def test_a_host_allows_as_many_tokens_as_it_says(bert: str) -> None:
    assert run_sizes.sizes(Config(sentence=WORDS, model=bert)).n_layers == len(run(Config(model=bert)).layers)
    hosting.offer([f"short={FOLDER / 'bert'}"], "5")
    trace = run(Config(sentence=WORDS, model="short"))
    assert len(trace.query_tokens) == 5
    assert "5 are used" in trace.notes[0]
    assert trace.config.chosen.max_tokens == 64


@for_each("name", ["bert", "gpt2", "qwen3"])
@for_each("n", [3, 30])
def test_a_run_is_never_estimated_below_what_it_takes(name: str, n: int) -> None:
    hosting.offer([f"{name}={FOLDER / name}"], "128")
    try:
        config = Config(sentence="the cat sat " * (n // 3), model=name)
        found, trace = run_sizes.sizes(config), run(config)
        each = [
            step.array.size
            for steps in (trace.around, *trace.layers)
            for step in steps.values()
            if not step.name.startswith(("w_", "b_", "g_", "c_"))
        ]
        assert sum(each) <= found.numbers <= 2 * sum(each)
        assert max(each) <= found.largest
        assert run_sizes.sizes(trace) == found
        refused = cost.refusal(NEEDS["explore"], config, most=1.0)
        assert "What would help most: fewer tokens." in refused
    finally:
        MODELS.clear()


def test_a_model_is_offered_from_the_command_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.csv"
    words = ["--model", f"tiny={FOLDER / 'bert'}", "render", WORDS, "-o", str(file)]
    try:
        assert command.main([*words, "--model", "tiny"]) == 0
        assert file.read_text(encoding="utf-8").count("[CLS]") >= 2
        assert command.main([*words, "--model", "tiny~00000000"]) == 2
        assert "other weights" in capfd.readouterr().err
    finally:
        MODELS.clear()


def test_the_environment_names_models_too() -> None:
    listed = f"one={FOLDER / 'bert'}:two={FOLDER / 'gpt2'}"
    try:
        hosting.offer_those_of_the_environment({"ATTNVIZ_MODELS": listed.replace(":one", "one")})
        assert list(MODELS) == ["one", "two"]
    finally:
        MODELS.clear()


def broken(tmp_path: Path) -> Path:
    folder = tmp_path / "broken"
    shutil.copytree(FOLDER / "bert", folder)
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[: len(whole) // 2])
    return folder


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("tiny=/nowhere/at/all", "the model tiny: /nowhere/at/all is not a folder"),
        ("../x=/tmp", "the model's name is '../x'"),
        ("nothing", "there is no model 'nothing' to install"),
        ("tiny={broken}", "the model tiny: model.safetensors"),
    ],
)
def test_a_bad_model_ends_the_start_with_one_sentence(
    words: str, message: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["--model", words.format(broken=broken(tmp_path))]) == 2
    error = capfd.readouterr().err
    assert error.startswith(f"attnviz: {message}")
    assert error.count("\n") == 1
    assert {*MODELS} <= {*boxed.NAMES}


@pytest.mark.parametrize(
    ("dtype", "number", "message"),
    [
        ("F32", b"\0\0\xc0\x7f", "with numbers that are infinite or none at all"),
        ("I32", b"\1\0\0\0", "as int32, which is not read here"),
    ],
)
def test_damaged_numbers_end_the_start_and_not_a_visitors_run(
    dtype: str, number: bytes, message: str, tmp_path: Path
) -> None:
    folder = shutil.copytree(FOLDER / "bert", tmp_path / "damaged")
    whole = (folder / "model.safetensors").read_bytes()
    length = int.from_bytes(whole[:8], "little")
    header, numbers = json.loads(whole[8 : 8 + length]), bytearray(whole[8 + length :])
    entry = header["encoder.layer.1.attention.self.value.weight"]
    entry["dtype"], begin = dtype, entry["data_offsets"][0]
    numbers[begin : begin + 4] = number
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + numbers)
    with pytest.raises(ConfigError, match=f"the model damaged: .*{message}"):
        hosting.offer([f"damaged={folder}"])
    assert {*MODELS} <= {*boxed.NAMES}


def test_a_wrong_limit_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--model-tokens", "4000", "render", "a", "-o", "-"]) == 2
    assert "choose 2 to 1024" in capfd.readouterr().err
