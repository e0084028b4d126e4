"""The commands for several class variables."""

import io
import json
import re
import signal
import time
import warnings

import highspy
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from milpbn import GBNCClassifier, load_model
from milpbn.errors import DataWarning

JURA = ("--dataset", "Jura", "--base", "gaussian-nb", "--validation", "none")


@pytest.fixture(scope="session")
def rows(tmp_path_factory):
    """A file with two class columns, a category and a number."""
    path = tmp_path_factory.mktemp("mdc") / "vehicles.csv"
    rng = np.random.default_rng(3)
    lines = ["length,fuel,kind,wheels"]
    for _ in range(120):
        truck = rng.random() < 0.5
        length = f"{rng.normal(8 if truck else 4, 1.5):.2f}"
        fuel = "diesel" if truck or rng.random() < 0.3 else "petrol"
        wheels = 6 if truck and rng.random() < 0.8 else 4
        lines.append(f"{length},{fuel},{'truck' if truck else 'car'},{wheels}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="session")
def model(tmp_path_factory, rows, milpbn):
    path = tmp_path_factory.mktemp("mdc") / "vehicles.json"
    options = ("--data", rows, "--targets", "kind,wheels", "--base", "logistic:C=1")
    done = milpbn("mdc", "solve", *options, "--validation", "none", "--out", path)
    assert done.exit_code == 0, done.output
    return path


def test_solve_reports_training_bound_and_network(milpbn, tmp_path):
    trace = tmp_path / "trace.csv"
    done = milpbn("mdc", "solve", *JURA, "--trace", trace)
    assert done.exit_code == 0
    assert re.search(r"status +optimal", done.stdout)
    assert re.search(r"gap +0.0000 %", done.stdout)
    assert re.search(r"lemma 1 +\d+ parent sets", done.stdout)
    assert re.search(r"lemma 2 +\d+ parent sets", done.stdout)
    assert "class_2 <- class_1" in done.stdout or "class_1 <- class_2" in done.stdout
    assert "base models:" in done.stderr
    assert trace.read_text().startswith("time,objective,bound")


def test_solve_gives_json_and_obeys_constraints(milpbn):
    forbid = ("--forbid", "class_1->class_2", "--forbid", "class_2->class_1")
    done = milpbn("mdc", "solve", *JURA, *forbid, "--json", "--quiet")
    assert done.exit_code == 0
    assert done.stderr == ""
    content = json.loads(done.stdout)
    assert content["result"]["structure"] == {"class_1": [], "class_2": []}
    assert content["training"]["candidate_sets"] == 2
    assert content["result"]["bound"] == pytest.approx(content["result"]["objective"])


def test_solve_writes_the_program_and_the_local_scores(milpbn, tmp_path):
    """Both describe the problem that was solved: other ways to solve it give the same optimum."""
    program, scores = tmp_path / "jura.lp", tmp_path / "jura.jkl"
    files = ("--write-model", program, "--write-scores", scores)
    emit = ("--method", "monolithic", "--emit", "highspy")
    done = milpbn("mdc", "solve", *JURA, *files, *emit, "--json", "--quiet")
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)["result"]
    again = milpbn("solve-scores", scores, "--json", "--quiet")
    assert json.loads(again.stdout)["result"]["objective"] == pytest.approx(result["objective"])
    assert json.loads(again.stdout)["result"]["structure"] == result["structure"]
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.readModel(str(program))
    solver.run()
    assert abs(solver.getInfo().objective_function_value) == pytest.approx(
        abs(result["objective"]), rel=1e-6
    )
    refused = milpbn("mdc", "solve", *JURA, "--emit", "highspy")
    assert refused.exit_code == 2
    assert "--emit requires --method monolithic" in refused.stderr


@pytest.fixture(scope="session")
def odd_rows(tmp_path_factory):
    """A file with dates, numbers with a unit, truth values, a constant, and weights."""
    path = tmp_path_factory.mktemp("mdc") / "sales.csv"
    rng = np.random.default_rng(0)
    day = pd.Timestamp("2021-11-28") + pd.to_timedelta(rng.integers(0, 400, 80), "D")
    frame = pd.DataFrame(
        {
            "day": day,
            "price": [f"${x:,.2f}" for x in rng.normal(2000, 400, 80)],
            "member": rng.random(80) < 0.5,
            "unit": "EUR",
            "size": rng.normal(size=80),
        }
    )
    late = day.month.to_numpy() > 6
    frame["season"] = np.where(late ^ (rng.random(80) < 0.1), "late", "early")
    frame["returned"] = np.where(late & frame["member"] ^ (rng.random(80) < 0.1), "yes", "no")
    frame["copies"] = rng.integers(1, 4, 80)
    frame.to_csv(path, index=False)
    return path


def test_a_frame_is_read_as_its_file_is(milpbn, odd_rows, tmp_path):
    out = tmp_path / "model.json"
    options = ("--data", odd_rows, "--targets", "season,returned", "--weight", "copies")
    options += ("--base", "logistic:C=1", "--validation", 3)
    done = milpbn("mdc", "solve", *options, "--out", out)
    assert done.exit_code == 0, done.output
    frame = pd.read_csv(odd_rows, parse_dates=["day"])
    X, y = frame.drop(columns=["season", "returned", "copies"]), frame[["season", "returned"]]
    classifier = GBNCClassifier("logistic:C=1", validation=3)
    with pytest.warns(DataWarning) as notes:
        classifier.fit(X, y, sample_weight=frame["copies"])
    assert any("'day' holds dates and is replaced by" in str(note.message) for note in notes)
    from_file, from_frame = load_model(out), classifier.model_
    assert from_file.encoder == from_frame.encoder
    assert "day.month" in from_frame.encoder.numeric
    assert "unit" not in from_frame.encoder.names
    assert from_file.result.objective == pytest.approx(from_frame.result.objective)
    assert from_file.structure == from_frame.structure
    raw = pd.read_csv(odd_rows)
    for one, two in zip(
        classifier.predict_proba(X), from_file.to_estimator().predict_proba(raw), strict=True
    ):
        assert one == pytest.approx(two)
    assert milpbn("verify", out).exit_code == 0
    done = milpbn("predict", out, odd_rows, "--loss", "balanced")
    assert done.exit_code == 0, done.output
    assert "on 80 labelled rows" in done.stderr
    classifier.save(out)
    assert GBNCClassifier.load(out).n_features_in_ == 5
    assert (GBNCClassifier.load(out).predict(X) == classifier.predict(X)).all()


def test_solve_starts_from_a_structure_file(milpbn, tmp_path):
    start = tmp_path / "start.txt"
    start.write_text("class_2\nclass_1 <- class_2\n")
    done = milpbn("mdc", "solve", *JURA, "--start", start, "--method", "monolithic")
    assert done.exit_code == 0
    assert re.search(r"warm start +\S*start.txt, -\d+", done.stdout)


def test_a_model_is_inspected_and_drawn(milpbn, model, tmp_path):
    picture, dot = tmp_path / "net.png", tmp_path / "net.dot"
    done = milpbn("inspect", model, "--draw", picture, "--plot", tmp_path / "gap.png")
    assert done.exit_code == 0
    assert "vehicles.csv, 120 rows" in done.stdout
    assert "kind: 2, wheels: 2" in done.stdout
    assert picture.stat().st_size > 3000
    assert milpbn("inspect", model, "--draw", dot).exit_code == 0
    assert '"kind"' in dot.read_text()
    content = json.loads(milpbn("inspect", model, "--json").stdout)
    assert content["result"]["status"] == "optimal"
    refused = milpbn("inspect", model, "--tables")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "--tables is for models with one class variable" in refused.stderr


def test_the_old_spellings_work_with_a_note(milpbn, model, rows):
    for command in (("inspect", model), ("predict", model, rows)):
        old, new = milpbn("mdc", *command), milpbn(*command)
        assert old.exit_code == new.exit_code == 0
        assert old.stdout == new.stdout
        assert f"note: `milpbn mdc {command[0]}` is now `milpbn {command[0]}`" in old.stderr
        assert "is now" not in new.stderr


def test_a_model_is_verified(milpbn, model, tmp_path):
    done = milpbn("verify", model)
    assert done.exit_code == 0, done.output
    assert "Everything agrees." in done.stdout
    assert done.stdout.count("holds ") == 10
    content = json.loads(model.read_text())
    content["result"]["objective"] += 1.0
    content["result"]["bound"] += 1.0
    wrong = tmp_path / "wrong.json"
    wrong.write_text(json.dumps(content))
    done = milpbn("verify", wrong)
    assert done.exit_code == 4
    assert re.search(r"DISAGREES +the class network has the stated score", done.stdout)
    content["data"]["sha256"] = "0" * 64
    wrong.write_text(json.dumps(content))
    assert "DISAGREES  the data are those" in milpbn("verify", wrong).stdout


def test_a_held_out_score_is_verified_by_training_again(milpbn, rows, tmp_path):
    path = tmp_path / "held-out.json"
    options = ("--data", rows, "--targets", "kind,wheels", "--base", "logistic:C=0.5")
    done = milpbn("mdc", "solve", *options, "--validation", 4, "--seed", 3, "--out", path)
    assert done.exit_code == 0, done.output
    assert re.search(r"base +logistic:C=0.5\n", done.stdout)
    assert re.search(r"score +hcll \(.*validation=4, fold_seed=3\)", done.stdout)
    done = milpbn("verify", path)
    assert done.exit_code == 0, done.output
    assert done.stdout.count("holds ") == 10
    assert "training again gives the same base models" in done.stdout
    assert "has the stated score, by its predictions for held-out rows" in done.stdout
    content = json.loads(path.read_text())
    moved = json.loads(path.read_text())
    moved["base_models"]["models"][0]["intercepts"][0] += 1.0
    path.write_text(json.dumps(moved))
    assert "DISAGREES  training again" in milpbn("verify", path).stdout
    for change in ({"base": "logistic:C=0.1"}, {"parameters": {"random_state": 4}}):
        wrong = {**content, **change}
        if "parameters" in change:  # other folds
            wrong["parameters"] = {**content["parameters"], **change["parameters"]}
        path.write_text(json.dumps(wrong))
        done = milpbn("verify", path)
        assert done.exit_code == 4
        assert "DISAGREES  the class network has the stated score" in done.stdout
    path.write_text(json.dumps({**content, "base": None}))
    done = milpbn("verify", path)
    assert done.exit_code == 0
    assert re.search(r"open +the class network has the stated score", done.stdout)
    assert "Nothing disagrees, but a claim is open." in done.stdout


@pytest.fixture
def grumbling(monkeypatch):
    """Base models that do not converge, and one of their warnings that says so twice."""

    class Grumbling(LogisticRegression):
        def fit(self, X, y):
            warnings.warn("I do not like these rows", RuntimeWarning, stacklevel=2)
            return super().fit(X, y)

    def estimator(self, n_columns, n_classes, seed):
        return Grumbling(C=self.C, max_iter=1)

    monkeypatch.setattr("milpbn.mdc.base_estimators.Logistic.estimator", estimator)
    return "--base", "logistic:C=1"


def test_trouble_of_base_models_is_one_note(milpbn, rows, grumbling):
    options = ("--data", rows, "--targets", "kind,wheels", *grumbling)
    done = milpbn("mdc", "solve", *options)
    assert done.exit_code == 0
    notes = [line for line in done.stderr.splitlines() if line.startswith("note:")]
    assert re.match(r"note: \d+ of \d+ base models did not converge", notes[0])
    assert notes[1:] == ["note: I do not like these rows"]
    assert "Warning" not in done.stderr
    assert milpbn("mdc", "solve", *options, "--quiet").stderr == ""
    evaluate = ("mdc", "evaluate", *options, "--folds", 2, "--chains", 2)
    done = milpbn(*evaluate)
    assert done.exit_code == 0
    assert "Warning" not in done.stderr
    for method in ("gbnc", "br", "cc", "cp"):
        assert re.search(rf"note: {method}: \d+ base models? did not converge", done.stdout)
    quiet = milpbn(*evaluate, "--quiet", "--json")
    assert quiet.stderr == ""
    content = json.loads(quiet.stdout)
    assert all(line["unconverged"] > 0 for line in content["methods"])


@pytest.mark.slow
def test_worker_processes_end_without_a_word(process, rows):
    options = ("--data", rows, "--targets", "kind,wheels", "--base", "gaussian-nb", "--quiet")
    done = process("mdc", "evaluate", *options, "--folds", 2, "--jobs", 2)
    assert done.returncode == 0
    assert done.stderr == ""


def test_evaluate_reports_every_measure_and_what_validation_chose(milpbn, rows):
    options = ("--data", rows, "--targets", "kind,wheels", "--methods", "gbnc,cc")
    done = milpbn("mdc", "evaluate", *options, "--folds", 2, "--order", "auto", "--json", "--quiet")
    assert done.exit_code == 0
    content = json.loads(done.stdout)
    for line in (*content["methods"], *content["folds"]):
        assert 0 < line["accuracy"] <= line["hamming"] <= line["sub_exact"] <= 1
        assert 0 < line["macro_f1"] <= 1
    for fold in content["folds"]:
        assert fold["selected"]["base"].startswith("logistic:C=")
        assert ("order" in fold["selected"]) == (fold["method"] == "cc")


def test_the_graph_of_a_model_is_exported(milpbn, model):
    done = milpbn("export", model, "--format", "modelstring")
    assert done.exit_code == 0
    assert "[kind" in done.stdout
    assert "[wheels" in done.stdout
    done = milpbn("export", model, "--format", "bif")
    assert done.exit_code == 1
    assert "'bif' needs probability tables; without them choose dot or modelstring" in done.stderr


def test_predictions_have_classes_and_probabilities(milpbn, model, rows, tmp_path):
    out = tmp_path / "out.csv"
    done = milpbn("predict", model, rows, "--out", out)
    assert done.exit_code == 0
    assert re.search(r"exact match \d+.\d+ %, Hamming score \d+.\d+ % on 120", done.stderr)
    header, first, *_ = out.read_text().splitlines()
    assert header == "kind,wheels,P(kind=car),P(kind=truck),P(wheels=4),P(wheels=6)"
    assert len(first.split(",")) == 6
    hamming = milpbn("predict", model, rows, "--loss", "hamming")
    assert hamming.exit_code == 0
    classifier, features = GBNCClassifier.load(model), pd.read_csv(rows)[["length", "fuel"]]
    for text, loss in ((out.read_text(), "subset"), (hamming.stdout, "hamming")):
        classifier.loss = loss
        predicted = pd.read_csv(io.StringIO(text), dtype=str)[["kind", "wheels"]].to_numpy()
        assert (predicted == classifier.predict(features)).all()
    assert hamming.stdout != out.read_text()


def test_odd_values_of_rows_to_predict_are_noted(milpbn, model, tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("wheels,kind,fuel,length\n4,car,steam,long\n8,bus,diesel,\n")
    done = milpbn("predict", model, path)
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) == 3
    assert "'fuel' has 1 value never seen in training ('steam')" in done.stderr
    assert "'length' has 1 value never seen in training ('long')" in done.stderr
    assert "1 missing value in 'length'" in done.stderr
    assert "'kind' has 1 label never seen in training ('bus'), counted as errors" in done.stderr
    assert "on 2 labelled rows" in done.stderr


def test_evaluate_compares_methods_and_goes_on_after_a_stop(milpbn, tmp_path):
    out = tmp_path / "results.jsonl"
    command = ("mdc", "evaluate", *JURA, "--folds", 3, "--methods", "gbnc,br,cc,cp", "--chains", 2)
    done = milpbn(*command, "--out", out)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines[4:8]] == ["gbnc", "br", "cc", "cp"]
    assert re.match(r"gbnc +0\.\d{3} ± 0\.\d{3} +0\.\d{3} ± 0\.\d{3}", lines[4])
    assert "12/12  cp, fold 3" in done.stderr
    out.write_text("".join(out.read_text().splitlines(keepends=True)[:-1]))
    again = milpbn(*command, "--out", out)
    assert again.exit_code == 0
    assert again.stderr.count(", fold ") == 1
    table = [re.sub(r"[\d.]+$", "", line) for line in again.stdout.splitlines()]
    assert table == [re.sub(r"[\d.]+$", "", line) for line in lines]
    other = milpbn(*command, "--seed", 1, "--out", out)
    assert other.exit_code == 1
    assert "other settings" in other.stderr


def test_published_folds_are_used(milpbn, rows, tmp_path):
    folds = tmp_path / "folds.csv"
    folds.write_text("test_fold\n" + "\n".join(str(k % 2 + 1) for k in range(120)) + "\n")
    options = ("--data", rows, "--targets", "kind,wheels", "--base", "gaussian-nb")
    done = milpbn("mdc", "evaluate", *options, "--methods", "gbnc", "--fold-file", folds, "--json")
    assert done.exit_code == 0
    assert [s["fold"] for s in json.loads(done.stdout)["folds"]] == [1, 2]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("solve",), 2, "give the data to learn from"),
        (("solve", "--dataset", "Jura", "--data", "x.csv"), 2, "not both"),
        (("solve", "--data", "x.csv"), 2, "--data requires --targets"),
        (("solve", "--data", "none.csv", "--targets", "a,b"), 1, "there is no file none.csv"),
        (("solve", "--dataset", "Jurra"), 1, "did you mean mdc/Jura?"),
        (
            ("solve", "--dataset", "iris"),
            1,
            "one class variable, 'class'; choose one of flare2_mdc3, mdc/Adult",
        ),
        (("solve", "--dataset", "Jura", "--targets", "a,b"), 2, "--targets requires --data"),
        (("solve", "--dataset", "Jura", "--base", "svm"), 2, "unknown base 'svm'; known ones"),
        (("solve", "--dataset", "Jura", "--base", "logistic:c=1"), 2, "with one of: C"),
        (("solve", "--dataset", "Jura", "--base", "logistic:C=no"), 2, "a number or auto"),
        (("solve", "--dataset", "Jura", "--validation", "1"), 2, "at least 2, or None, not 1"),
        (
            ("solve", "--dataset", "Jura", "--validation", "loo"),
            2,
            "at least 2, or None, not 'loo'",
        ),
        (("solve", "--dataset", "Jura", "--validation", "400"), 1, "359 rows are too few"),
        (("evaluate", "--dataset", "Jura", "--order", "a,b"), 2, "Invalid value for '--order'"),
        (("solve", "--dataset", "Jura", "--jobs", "0"), 2, "is not a valid number of processes"),
        (("solve", "--dataset", "Jura", "--forbid", "a->b"), 1, "there is no such variable"),
        (("solve", "--dataset", "Jura", "--out", "no/such/x.json"), 2, "there is no folder"),
        (("evaluate", "--dataset", "Jura", "--methods", "svm"), 2, "unknown method 'svm'"),
        (("evaluate", "--dataset", "Jura", "--folds", "500"), 1, "too few for 500 folds"),
        (("inspect", "none.json"), 1, "cannot read none.json"),
    ],
)
def test_bad_input_is_told_without_a_traceback(milpbn, arguments, code, message):
    done = milpbn("mdc", *arguments)
    assert done.exit_code == code
    assert message in done.stderr
    assert "Traceback" not in done.output
    assert done.stdout == ""


@pytest.mark.parametrize("command", ["solve", "learn", "evaluate", "missing-curve", "scores"])
def test_the_other_commands_want_one_class_variable(milpbn, command):
    options = ("--score", "mdl") if command == "scores" else ()
    done = milpbn(command, "--dataset", "Jura", *options)
    assert done.exit_code == 1
    assert "mdc/Jura has 2 class variables ('class_1', 'class_2')" in done.stderr
    assert "use `milpbn mdc solve` for several" in done.stderr
    assert done.stdout == ""


def test_one_target_of_a_file_is_not_enough(milpbn, rows):
    done = milpbn("mdc", "solve", "--data", rows, "--targets", "kind")
    assert done.exit_code == 1
    assert "vehicles.csv has one class variable, 'kind'; give several, or use" in done.stderr


def test_a_model_says_how_its_file_was_read(model, rows):
    data = json.loads(model.read_text())["data"]
    assert data["file"] == str(rows)
    assert data["columns"] == {
        "target": ["kind", "wheels"],
        "categorical": [],
        "numeric": [],
        "drop": [],
        "dates": "expand",
        "max_states": 50,
        "target_bins": None,
    }


def test_a_users_file_has_ten_folds(milpbn, rows):
    options = ("--data", rows, "--targets", "kind,wheels", "--base", "gaussian-nb")
    done = milpbn("mdc", "evaluate", *options, "--methods", "br", "--json")
    assert done.exit_code == 0
    assert {s["fold"] for s in json.loads(done.stdout)["folds"]} == set(range(1, 11))


def test_targets_of_a_file_are_checked(milpbn, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("x,a,b\n1,u,k\n2,v,k\n3,u,k\n")
    done = milpbn("mdc", "solve", "--data", path, "--targets", "a,b")
    assert done.exit_code == 1
    assert "target 'b' is 'k' in every row" in done.stderr
    done = milpbn("mdc", "solve", "--data", path, "--targets", "a,b", "--numeric", "b")
    assert done.exit_code == 1
    assert "--numeric b: 'b' is a target" in done.stderr


@pytest.fixture(scope="session")
def many_classes(tmp_path_factory):
    """Nine class columns: thousands of parent sets, none of which costs much."""
    path = tmp_path_factory.mktemp("mdc") / "many.csv"
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    columns = [x, *((x + rng.normal(size=400) > 0).astype(int) for _ in range(9))]
    header = ",".join(["x", *(f"c{j}" for j in range(9))])
    np.savetxt(path, np.column_stack(columns), "%.4g", ",", header=header, comments="")
    return "--data", path, "--targets", header[2:], "--base", "gaussian-nb"


def test_ctrl_c_keeps_what_was_scored(launch, many_classes, tmp_path):
    out = tmp_path / "model.json"
    started = launch("mdc", "solve", *many_classes, "--out", out)
    for line in started.stderr:
        found = re.search(r"base models: ([\d,]+) trained", line)
        if found and int(found[1].replace(",", "")) > 9:
            break
    started.send_signal(signal.SIGINT)
    stdout, stderr = started.communicate(timeout=600)
    assert started.returncode == 3, stderr
    assert "status      interrupted" in stdout
    assert re.search(r"left +[\d,]+ parent sets", stdout)
    assert out.exists()
    assert "Traceback" not in stderr


def test_a_time_limit_ends_training(milpbn, many_classes, ticking, monkeypatch):
    monkeypatch.setattr("milpbn.cli.mdc.solve.PROCESS_START", time.perf_counter())
    done = milpbn("mdc", "solve", *many_classes, "--time-limit", "0.2")
    assert done.exit_code == 3, done.stderr
    assert "status      time_limit" in done.stdout
    assert re.search(r"left +[\d,]+ parent sets", done.stdout)
