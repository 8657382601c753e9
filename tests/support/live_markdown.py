"""Ways in which Markdown leads elsewhere or stands out of a text: Streamlit draws each of them."""

from __future__ import annotations

LIVE = {
    "link": "[here](//x.test)",
    "link across a number": "[here [[weights.1.1.1.1]]](//x.test)",
    "link by name": "[here][r]\n\n[r]: //x.test",
    "link by its own words": "[here]\n\n[here]: //x.test",
    "link by a name in brackets": "[r\\]]\n\n[r\\]]: //x.test",
    "link in a list": "* [here]\n* [here]: //x.test",
    "link in a quotation": "> [here]\n\n> [here]: //x.test",
    "picture": "![here](//x.test/a.png)",
    "picture by name": "![here][r]\n\n[r]: //x.test/a.png",
    "angle brackets": "<https://x.test>",
    "another scheme": "<xmpp:x.test>",
    "address": "https://x.test/a",
    "address in capitals": "HTTPS://x.test/a",
    "address with escapes": "https:\\//x.test",
    "address with a reference": "https&colon;//x.test",
    "address without a scheme": "see www.x.test",
    "the same in capitals": "see WWW.x.test",
    "the same with an escape": "see www\\.x.test",
    "the same with a reference": "see www&#46;x.test",
    "mail": "write to boss@x.test",
    "mail with an escape": "write to boss\\@x.test",
    "mail with a reference": "write to boss&#x40;x.test",
    "footnote": "here[^1]\n\n[^1]: there",
    "heading": "# Here",
    "heading in a list": "* ## Here",
    "underlined heading": "| here\n===",
    "colour": ":red[here]",
    "background": ":green-background[here]",
    "icon": ":material/link:",
    "picture of a word": ":rocket:",
}

MARKUP = {
    "link in HTML": '<a href="//x.test">here</a>',
    "picture in HTML": '<img src="//x.test/a.png">',
    "script": "<script>document.title = 1</script>",
    "frame": '<iframe src="//x.test"></iframe>',
    "mail with a scheme": "mailto:boss@x.test",
    "link that runs": "[here](javascript:alert(1))",
}
"""What Streamlit draws of none, as it is written."""
