"""The settings that a trained model decides itself, beside the controls that it does without."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from attnviz.engine.pretrained import model_registry
from attnviz.engine.pretrained.model_registry import HostedModel
from attnviz.engine.pretrained.pretrained_config import FREE
from attnviz.engine.records import offered_models
from attnviz.engine.records.config import Config
from attnviz.engine.tables.masks import MASKS
from attnviz.models.boxed import TWINS
from attnviz.models.images.drawn import EXAMPLES
from attnviz.models.images.reader import can_be_named
from attnviz.settings.faults import ConfigError
from attnviz.settings.fields import settings
from attnviz.settings.language import Words, sign
from attnviz.text import model_card
from attnviz.ui.components import model_image
from attnviz.ui.session import session_state, widgets
from attnviz.ui.session.callback import callback
from attnviz.ui.session.notices import paragraph
from attnviz.ui.session.selection import Selection

WORDS = Words(
    {
        "decides": "The model decides the rest: {n_layers} layers of {n_heads} heads, {d_model} numbers per token, "
        "heads "
        "of width {d_head}, feed-forward blocks of width {d_ff}. Its weights are {written}.",
        "attention_alone": "The model decides the rest: {n_layers} layers of {n_heads} heads, {d_model} numbers per "
        "token, heads of width {d_head}, and no feed-forward blocks. Its weights are {written}.",
        "to_plain": "The same, trained without penalties",
        "to_small": "The same, trained with penalties",
        "sinks": "Each head has a sink: its softmax has one more score, which takes a share of the weights and gives "
        "nothing.",
        "experts": "Each block is made of {n_experts} experts, of which a token takes {n_chosen}.",
        "space": "A Ġ in its tokens is a space.",
        "own_mask": "{masks}, the model's own",
        "causal": "It reads from left to right: its own causal mask applies, whatever is chosen here.",
    }
)


def prepare(before: Config, locked: tuple[str, ...]) -> None:
    """Put what can be drawn in the place of the sentence, where a model that reads images has just been chosen."""
    chosen, sentence = st.session_state.get("model"), st.session_state.get("sentence")
    if not chosen or chosen == before.model or "sentence" in locked or not isinstance(sentence, str):
        return
    model = model_registry.find(chosen)
    if model is not None and model.n_patches and not can_be_named(sentence):
        st.session_state["sentence"] = EXAMPLES[0]


def begin(before: Config, draft: Config, locked: tuple[str, ...]) -> Config:
    """Return the draft; with the model's own mask alone where the model has just been chosen."""
    chosen = draft.model != before.model and model_registry.find(draft.model) is not None
    return widgets.reset(draft, "mask") if chosen and "mask" not in locked else draft


def decided(draft: Config) -> tuple[str, ...]:
    """Return the fields of a setting that the model decides; none without one."""
    if model_registry.find(draft.model) is None:
        return ()
    return tuple(item.name for item in settings(draft) if item.name not in FREE)


def empty_fields(draft: Config) -> dict[str, str]:
    """Return what a list says of which nothing is chosen, where the model decides what holds then: its own mask."""
    model = model_registry.find(draft.model)
    if model is None or not model.own_masks:
        return {}
    return {"mask": WORDS["own_mask"].format(masks=sign(", ").join(MASKS[name].label for name in model.own_masks))}


def say(draft: Config, *, may_change: bool = True) -> None:
    """Say what the model decides, if there is one; offer the one that it is to be compared with, where that may be."""
    model = model_registry.find(draft.model)
    if model is not None:
        sizes = {name: getattr(model.sizes, name) for name in ("n_layers", "n_heads", "d_model", "d_head", "d_ff")}
        name = draft.model.partition("~")[0]
        experts = {"n_experts": model.sizes.n_experts, "n_chosen": model.sizes.n_chosen}
        more = [WORDS["experts"].format(**experts)] if model.sizes.n_experts else []
        more += [WORDS["sinks"]] if model.sizes.sinks else []
        more += [WORDS["causal"]] if "causal" in model.own_masks else []
        more += [WORDS["space"]] if _has_spaces(model, draft) else []
        rest = WORDS["decides" if model.sizes.d_ff else "attention_alone"]
        card = model_card.sentences(name, model.digest)
        paragraph([rest.format(**sizes, written=f"{name}~{model.digest}"), *more])
        if model.n_patches:
            model_image.show(model, draft, may_change=may_change)
        if card:
            if may_change:
                _offer_twin(draft, name)
            paragraph(card)


def _offer_twin(draft: Config, name: str) -> None:
    """Draw a button for the model that differs from one of the package in its penalties alone, where there is one."""
    other = next((each for each in offered_models.names() if each.startswith(f"{TWINS.get(name, '')}~")), "")
    if name in TWINS and other:
        st.button(WORDS[f"to_{TWINS[name]}"], key="other-training", on_click=_take, args=(other,))


@callback
def _take(model: str) -> None:
    """Choose another model, and leave all else as it is."""
    config, selection = session_state.saved(Config, Selection)
    session_state.adopt(replace(config, model=model), selection)


def _has_spaces(model: HostedModel, draft: Config) -> bool:
    """Return whether spaces stand in the tokens, as byte-level tokenisers write them."""
    try:
        return any("Ġ" in token for token in model.tokens(draft))
    except ConfigError:  # an empty sentence, which is said elsewhere
        return False
