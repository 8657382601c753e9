"""Sentences for the visitor: what has to be typed otherwise is written as it is typed."""

from __future__ import annotations

from attnviz.ui.session import notices


def test_a_fault_names_fields_as_they_are_typed_and_a_note_typesets_widths() -> None:
    fault = notices._lines(["d_model is 4; did you mean “n_heads” or w_q?"], "fault")
    assert "d_model is 4; did you mean “n_heads” or w_q?" in fault
    note = notices._lines(["d_k is 4 with n_heads 2"], "note")
    assert "<i>d</i><sub><i>k</i></sub> is 4 with n_heads 2" in note
