"""Makes examples/letter.docx: a letter of two pages from a public authority that does not exist.

Usage: python examples/make_letter.py [FILE]
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import docx
from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Cm, Pt, RGBColor
from docx.text.paragraph import Paragraph

DATE = datetime(2026, 3, 2, tzinfo=UTC)
FORM = "https://www.northfield.example/housing-allowance"
DEADLINES = (
    ("What", "Until when", "Where"),
    ("Submit the completed application form", "31 March 2026", "Housing Office, counter 4"),
    ("Furnish evidence of your income", "14 April 2026", "By post or in person"),
    ("Lodge an objection to this decision", "Within one month of receipt", "In writing only"),
)


def main() -> None:
    out = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).with_name("letter.docx")
    letter().save(str(out))


def letter() -> Document:
    document = docx.Document()
    section = document.sections[0]
    section.page_width, section.page_height = Cm(21), Cm(29.7)
    section.left_margin = section.right_margin = Cm(2.5)
    properties = document.core_properties
    properties.title, properties.author, properties.comments = "Your housing allowance", "Northfield Town Council", ""
    properties.created = properties.modified = DATE
    document.styles["Normal"].font.name = "Calibri"
    document.styles["Normal"].font.size = Pt(11)

    document.add_paragraph("Northfield Town Council\nHousing Office\n12 Market Street\nNorthfield")
    document.add_paragraph("2 March 2026\nReference: HA-2026-0417")
    document.add_heading("Your housing allowance", 1)
    document.add_paragraph("Dear Ms Example,")
    add(
        document, "we hereby inform you that your entitlement to housing allowance will ", ("terminate", "bold"),
        " on 30 April 2026. In order to continue to receive the allowance, it is necessary that you submit a new "
        "application prior to the aforementioned date.",
    )  # fmt: skip
    document.add_heading("Why we are writing to you", 2)
    add(
        document, "Housing allowance is granted for a period of twelve months. Upon expiration of this period, the "
        "Housing Office is obliged to ascertain whether the prerequisites are still fulfilled. A decision of the "
        "council of 12 January 2026 has furthermore modified the maximum amounts, which may be advantageous for you.",
    )  # fmt: skip
    document.add_heading("What you have to do", 2)
    add(document, "Please proceed as follows:")
    for step in (
        ("Complete the application form in full. It can be obtained at the Housing Office or ",
         ("downloaded from our website", "link"), "."),
        ("Enclose evidence of the income of ", ("all persons", "bold"), " residing in your household."),
        ("Submit the documents no later than 31 March 2026. Should you be unable to comply with this deadline, you "
         "are requested to notify us immediately.",),
    ):  # fmt: skip
        add(document, *step, style="List Number")
    document.add_heading("Documents that we require", 2)
    for item in (
        "the three most recent payslips of each employed person,",
        "the current tenancy agreement including all subsequent amendments,",
        "a statement of the utilities that were paid in the preceding year.",
    ):
        add(document, item, style="List Bullet")
    document.add_heading("Deadlines", 2)
    table = document.add_table(len(DEADLINES), len(DEADLINES[0]), "Table Grid")
    for row, texts in zip(table.rows, DEADLINES, strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.paragraphs[0].add_run(text).bold = (texts is DEADLINES[0]) or None
    document.add_paragraph()
    document.add_heading("If your circumstances have altered", 2)
    add(
        document, "You are required to notify the Housing Office ", ("without delay", "italic"),
        " of any alteration that may affect your entitlement. This applies in particular if a person moves into or out "
        "of your dwelling, if the rent is reduced, or if the income of your household increases by more than 15 "
        "percent. Failure to comply with this obligation may result in a demand for the reimbursement of amounts that "
        "were paid in excess.",
    )  # fmt: skip
    document.add_heading("How your data are processed", 2)
    add(
        document, "The data that you provide are utilised exclusively for the purpose of determining your entitlement. "
        "They are retained for a period of ten years and subsequently erased. You may at any time request information "
        "regarding the data that we have stored.",
    )  # fmt: skip
    document.add_heading("Do you require assistance?", 2)
    add(
        document, "Our staff will be pleased to assist you in completing the form. You can contact us by telephone on "
        "555 0142 from Monday to Thursday between 8.30 a.m. and 3 p.m. An interpreter can be provided free of charge, "
        "provided that you notify us at least five working days in advance.",
    )  # fmt: skip
    document.add_heading("Your right to object", 2)
    add(
        document, "You may lodge an objection to this decision within one month of its receipt. The objection must be "
        "submitted in writing to the address stated above. It does not have a suspensive effect: the allowance "
        "terminates on the date stated unless you submit a new application.",
    )  # fmt: skip
    document.add_paragraph("Yours sincerely,\n\nR. Sample\nHousing Office")
    return document


def add(document: Document, *texts: str | tuple[str, str], style: str | None = None) -> None:
    """A paragraph of plain and formatted texts."""
    paragraph = document.add_paragraph(style=style)
    for one in texts:
        text, look = (one, "plain") if isinstance(one, str) else one
        if look == "link":
            add_link(paragraph, text, FORM)
        else:
            run = paragraph.add_run(text)
            run.bold, run.italic = look == "bold" or None, look == "italic" or None


def add_link(paragraph: Paragraph, text: str, address: str) -> None:
    link = OxmlElement("w:hyperlink")
    link.set(qn("r:id"), paragraph.part.relate_to(address, RELATIONSHIP_TYPE.HYPERLINK, is_external=True))
    run = paragraph.add_run(text)
    run.font.underline, run.font.color.rgb = True, RGBColor(0x05, 0x63, 0xC1)
    link.append(run._r)
    paragraph._p.append(link)


if __name__ == "__main__":
    main()
