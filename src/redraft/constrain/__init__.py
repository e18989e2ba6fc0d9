"""Compiles edit plans into token constraints."""
