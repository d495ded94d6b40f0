import pytest

from boundcap_jupyter.core.limits import OutputLimits


def test_the_defaults_are_fifty_kilobytes_and_two_thousand_lines_of_the_tail():
    assert OutputLimits() == OutputLimits(max_bytes=51200, max_lines=2000, retain="tail")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_bytes", 0),
        ("max_bytes", 63),
        ("max_bytes", -1),
        ("max_bytes", "50k"),
        ("max_bytes", 51200.0),
        ("max_bytes", None),
        ("max_bytes", True),
        ("max_lines", 0),
        ("max_lines", -5),
        ("max_lines", "x"),
        ("max_lines", True),
        ("retain", "middle"),
        ("retain", None),
        ("retain", b"tail"),
    ],
)
def test_what_is_no_limit_is_refused_with_the_field_and_the_value(field, value):
    with pytest.raises(ValueError, match=field) as caught:
        OutputLimits(**{field: value})
    assert repr(value) in str(caught.value)


def test_the_smallest_limits_are_allowed():
    limits = OutputLimits(max_bytes=64, max_lines=1, retain="head")
    assert (limits.max_bytes, limits.max_lines, limits.retain) == (64, 1, "head")
