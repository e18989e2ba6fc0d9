"""The HTTP interface of LanguageTool, so that its clients show redraft's suggestions."""
