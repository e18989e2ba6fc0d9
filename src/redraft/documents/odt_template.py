"""The fixed parts of a new OpenDocument text file: styles for headings, lists, tables and formatted text."""

from __future__ import annotations

MIME_TYPE = "application/vnd.oasis.opendocument.text"
_NAMESPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{address}:1.0"'
    for name, address in (
        ("office", "office"), ("text", "text"), ("style", "style"), ("table", "table"), ("meta", "meta"),
        ("fo", "xsl-fo-compatible"), ("svg", "svg-compatible"),
    )
) + ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'  # fmt: skip
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_PARTS = (("/", MIME_TYPE), *((name, "text/xml") for name in ("content.xml", "styles.xml", "meta.xml")))

MANIFEST = (
    f'{_HEAD}<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0" '
    'manifest:version="1.3">'
    + "".join(
        f'<manifest:file-entry manifest:full-path="{path}" manifest:media-type="{kind}"/>' for path, kind in _PARTS
    )
    + "</manifest:manifest>"
)
META = (
    f'{_HEAD}<office:document-meta {_NAMESPACES} office:version="1.3"><office:meta><dc:title>{{title}}</dc:title>'
    "<meta:creation-date>{date}</meta:creation-date></office:meta></office:document-meta>"
)


def _heading(level: int) -> str:
    size = max(19 - 2 * level, 11)
    return (
        f'<style:style style:name="Heading_20_{level}" style:display-name="Heading {level}" style:family="paragraph" '
        f'style:default-outline-level="{level}"><style:paragraph-properties fo:margin-top="0.42cm" '
        f'fo:margin-bottom="0.21cm" fo:keep-with-next="always"/><style:text-properties fo:font-size="{size}pt" '
        'fo:font-weight="bold"/></style:style>'
    )


def _list_level(tag: str, level: int, mark: str) -> str:
    return (
        f'<text:{tag} text:level="{level}" {mark}><style:list-level-properties '
        'text:list-level-position-and-space-mode="label-alignment"><style:list-level-label-alignment '
        f'text:label-followed-by="listtab" fo:text-indent="-0.6cm" fo:margin-left="{0.6 * level + 0.4:.1f}cm"/>'
        f"</style:list-level-properties></text:{tag}>"
    )


_LISTS = "".join(
    f'<text:list-style style:name="{name}">'
    + "".join(_list_level(f"list-level-style-{kind}", level, mark) for level in range(1, 10))
    + "</text:list-style>"
    for name, kind, mark in (
        ("Numbers", "number", 'style:num-suffix="." style:num-format="1"'),
        ("Bullets", "bullet", 'text:bullet-char="•"'),
    )
)
_TEXT_STYLES = "".join(
    f'<style:style style:name="{name}" style:family="text"><style:text-properties {properties}/></style:style>'
    for name, properties in (
        ("Bold", 'fo:font-weight="bold"'),
        ("Italic", 'fo:font-style="italic"'),
        ("Underline", 'style:text-underline-style="solid"'),
        ("Code", 'fo:font-family="monospace"'),
    )
)
STYLES = (
    f'{_HEAD}<office:document-styles {_NAMESPACES} office:version="1.3"><office:styles>'
    '<style:default-style style:family="paragraph"><style:paragraph-properties fo:margin-bottom="0.21cm"/>'
    '<style:text-properties fo:font-size="11pt" fo:font-family="sans-serif"/></style:default-style>'
    + "".join(map(_heading, range(1, 10)))
    + f"{_TEXT_STYLES}{_LISTS}</office:styles></office:document-styles>"
)
_CELL = (
    '<style:style style:name="Cell" style:family="table-cell"><style:table-cell-properties fo:padding="0.1cm" '
    'fo:border="0.5pt solid #000000"/></style:style>'
)


def content_xml(body: str) -> str:
    return (
        f'{_HEAD}<office:document-content {_NAMESPACES} office:version="1.3">'
        f"<office:automatic-styles>{_CELL}{_TEXT_STYLES}{_LISTS}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
