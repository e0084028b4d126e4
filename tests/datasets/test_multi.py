import pytest

from milpbn.datasets import load_multi_dataset, read_multi_table
from milpbn.datasets.multi import read_multi_features
from milpbn.errors import DataError

ROWS = """size;color;note;kind;wheels
1,5;red;;car;4
2,5;blue;x;truck;6
;red;y;car;4
3,5;blue;;truck;
0,5;red;x;car;4
4,5;green;y;truck;6
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    return path


def test_bundled_sets_are_found_with_and_without_their_folder():
    table = load_multi_dataset("Adult")
    assert table.name == "mdc/Adult"
    assert len(table) == 18419
    assert table.targets.shape[1] == 4
    assert len(table.categorical) == 5
    assert load_multi_dataset("mdc/Jura").folds == 10
    with pytest.raises(DataError, match=r"'iris' has one class variable; use `milpbn solve`"):
        load_multi_dataset("iris")


def test_a_file_is_read_with_several_targets(file):
    table = read_multi_table(file, ["kind", "wheels"], drop=["note"])
    assert table.targets.to_numpy().tolist() == [
        ["car", "4"],
        ["truck", "6"],
        ["car", "4"],
        ["truck", "6"],
    ]
    assert table.numeric == ("size",)
    assert table.features["size"].tolist() == [1.5, 2.5, 0.5, 4.5]
    notes = " ".join(table.notes)
    assert "rows left out because a target is missing: 1" in notes
    assert "Rows left out because a feature is missing: 1" in notes
    assert len(read_multi_table(file, ["kind", "wheels"], drop=["note"], missing="state")) == 5


@pytest.mark.parametrize(
    ("targets", "options", "message"),
    [
        (["kind", "wheel"], {}, "no column 'wheel' .*'wheels'"),
        (["kind", "kind"], {}, "'kind' is named twice"),
        (["kind"], {}, "no multi-dimensional problem"),
        (["kind", "wheels"], {"drop": ["wheels"]}, "--drop wheels: this column is the target"),
        (["kind", "wheels"], {"categorical": ["kind"]}, "--categorical kind: this column is"),
        (["kind", "wheels"], {"drop": ["size", "color", "note"]}, "no feature is left"),
    ],
)
def test_bad_options_are_named(file, targets, options, message):
    with pytest.raises(DataError, match=message):
        read_multi_table(file, targets, **options)


def test_a_target_with_one_state_is_named(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,a,b\n1,u,k\n2,v,k\n3,u,k\n")
    with pytest.raises(DataError, match="target 'b' says 'k' in every row"):
        read_multi_table(path, ["a", "b"])


def test_rows_to_predict_bring_the_targets_they_have(file):
    frame = read_multi_features(file, ["size", "color"], ["kind", "wheels", "other"])
    assert frame.columns.tolist() == ["size", "color", "kind", "wheels"]
    assert len(frame) == 6
    with pytest.raises(DataError, match=r"no column 'sizes'.*the model needs it"):
        read_multi_features(file, ["sizes"], [])
