"""The fold cases that Python and TypeScript both pass; js/src/core/fold.test.ts reads the same file.

Each case has a view, an update, and either the view that results or words of the error.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from boundcap_jupyter.core.update import apply_update
from boundcap_jupyter.show.wire import update_from_wire, view_from_wire

GOLDEN = Path(__file__).parent.parent / "golden" / "updates.json"
CASES: list[dict[str, Any]] = json.loads(GOLDEN.read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_fold(case: dict[str, Any]) -> None:
    view = view_from_wire(case["view"])
    if "error" in case:
        with pytest.raises(ValueError, match=re.escape(case["error"])):
            apply_update(view, update_from_wire(case["update"]))
    else:
        assert apply_update(view, update_from_wire(case["update"])) == view_from_wire(case["result"])


def test_every_kind_is_there_with_and_without_an_error_where_it_can_have_one() -> None:
    good = {case["update"]["kind"] for case in CASES if "result" in case}
    bad = {case["update"]["kind"] for case in CASES if "error" in case}
    assert good == {"replace", "append", "slide", "rewrite", "metadata"}
    assert bad == {"slide", "rewrite"}
