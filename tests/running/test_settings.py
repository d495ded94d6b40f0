from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from boundcap_jupyter.running import settings
from boundcap_jupyter.running.settings import BY_NAME, SettingError, configure


@pytest.fixture(autouse=True)
def _unset() -> Iterator[None]:
    yield
    for name in BY_NAME:
        configure(name, None)


def test_the_variables_are_these() -> None:
    assert sorted(setting.variable for setting in BY_NAME.values()) == [
        "BOUNDCAP_DIR",
        "BOUNDCAP_KEEP_DAYS",
        "BOUNDCAP_MAX_BYTES",
        "BOUNDCAP_MAX_LINES",
        "BOUNDCAP_MAX_SPILL_BYTES",
        "BOUNDCAP_MIN_FREE_BYTES",
        "BOUNDCAP_STORE_BYTES",
    ]


def test_configuration_stands_above_the_environment_and_that_above_the_default(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert settings.KEEP_DAYS.get() == 7
    monkeypatch.setenv("BOUNDCAP_KEEP_DAYS", "2.5")
    assert settings.KEEP_DAYS.get() == 2.5
    configure("keep_days", 30)
    assert settings.KEEP_DAYS.get() == 30
    configure("keep_days", None)
    assert settings.KEEP_DAYS.get() == 2.5
    monkeypatch.setenv("BOUNDCAP_KEEP_DAYS", "")
    assert settings.KEEP_DAYS.get() == 7


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("max_spill_bytes", "50M", 50 * 1024**2),
        ("max_spill_bytes", " 0 ", 0),
        ("min_free_bytes", "1.5GiB", 3 * 512 * 1024**2),
        ("store_bytes", "123", 123),
        ("max_lines", "2k", 2000),
        ("max_bytes", "64", 64),
        ("keep_days", "inf", math.inf),
        ("keep_days", "0", 0),
    ],
)
def test_sizes_and_numbers_are_read_as_on_the_line_of_a_magic(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, value: object
) -> None:
    monkeypatch.setenv(BY_NAME[name].variable, text)
    assert BY_NAME[name].get() == value


def test_a_directory_may_begin_with_the_home_and_is_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("BOUNDCAP_DIR", "~/big")
    assert settings.DIR.get() == tmp_path / "big"
    monkeypatch.chdir(tmp_path)
    configure("dir", Path("here"))
    assert settings.DIR.get() == tmp_path / "here"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("max_spill_bytes", "-1"),
        ("max_spill_bytes", "lots"),
        ("store_bytes", "1T1"),
        ("max_bytes", "63"),
        ("max_lines", "0"),
        ("keep_days", "nan"),
        ("keep_days", "-0.5"),
        ("keep_days", "a week"),
    ],
)
def test_a_wrong_value_is_an_error_that_names_the_variable_and_the_value(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    setting = BY_NAME[name]
    monkeypatch.setenv(setting.variable, text)
    with pytest.raises(SettingError) as caught:
        setting.get()
    assert str(caught.value) == f"{setting.variable} must be {setting.must_be}, not {text!r}"


@pytest.mark.parametrize("value", [True, -1, 1.5, [], object()])
def test_a_wrong_configuration_is_refused_and_changes_nothing(value: object) -> None:
    configure("store_bytes", 5)
    with pytest.raises(SettingError, match=r"Boundcap\.store_bytes must be"):
        configure("store_bytes", value)
    assert settings.STORE_BYTES.get() == 5
