"""``milpbn stability``."""

import json
import shutil

from milpbn import Model


def test_frequencies_stand_beside_margins(milpbn, iris_model, tmp_path):
    file = shutil.copy(iris_model, tmp_path / "iris.json")
    assert milpbn("arcs", file).exit_code == 0
    result = milpbn("stability", file, "--resamples", 4, "--quiet")
    assert (result.exit_code, result.stderr) == (0, "")
    model = Model.load(file)
    assert "samples     4 of 4, local-search" in result.stdout
    share = model.stability.frequency(("class", "petalwidth"))
    loss = model.arcs.arcs[0].margin.high
    assert f"{100 * share:.1f} %" in result.stdout
    assert f"{loss:18.4f}" in result.stdout
    assert result.stdout.strip() in milpbn("inspect", file).stdout


def test_json_and_bad_options(milpbn, iris_model, tmp_path):
    out = tmp_path / "new.json"
    result = milpbn("stability", iris_model, "--resamples", 2, "--json", "--out", out)
    assert json.loads(result.stdout) == Model.load(out).stability.to_dict()
    result = milpbn("stability", iris_model, "--method", "nb")
    assert result.exit_code == 2
    assert "branch-and-cut" in result.stderr
    assert milpbn("stability", iris_model, "--resamples", 0).exit_code == 2
    assert milpbn("stability", tmp_path / "none.json").exit_code == 1
