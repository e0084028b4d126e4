"""A table with every trouble that people's data have, and the ways to store it."""

import numpy as np
import pandas as pd

ROWS = 120
TARGET = "left, or stayed"


def troubled_frame(seed=0, n=ROWS):
    """One column for each trouble; the class depends on a few of them."""
    rng = np.random.default_rng(seed)
    left = rng.random(n) < 0.4
    days = pd.Timestamp("2019-11-20") + pd.to_timedelta(rng.integers(0, 500, n) + 200 * left, "D")
    minutes = rng.integers(0, 24 * 60, n)
    tenure = rng.integers(1, 72, n) + 20 * ~left
    frame = pd.DataFrame(
        {
            "no": np.arange(1, n + 1),
            "customerID": rng.permutation(n) + 5000,
            "email": [f"user{i}@example.org" for i in range(n)],
            "signup": days,
            "visit": days + pd.to_timedelta(minutes, "min"),
            "day": [f"{d.day}.{d.month}.{d.year}" for d in days],
            "call": [f"{m // 60:02d}:{m % 60:02d}" for m in rng.permutation(minutes)],
            "income": [f"${v:,.2f}" for v in rng.lognormal(10 + left, 0.4)],
            "rate": [f"{v:.1f}%" for v in rng.uniform(0, 60, n) + 30 * left],
            "weight": [f"{v} kg" for v in rng.integers(40, 120, n)],
            "preis": [f"{v:,}".replace(",", ".") + ",50" for v in rng.integers(500, 9999, n)],
            "city": [f"city {int(v) % 90}" for v in rng.exponential(60, n)],
            "member": rng.choice(["yes", "Yes", "Y", "no", "N"], n),
            "flag": left ^ (rng.random(n) < 0.3),
            "score": [*map(str, rng.integers(10, 99, n - 3)), "broken", "broken", "-"],
            "currency": "EUR",
            "nothing": [None] * n,
            "tenure": tenure,
            "copy": tenure,
            "rooms": rng.integers(1, 5, n),
            "a,b": rng.choice(["u", "v"], n),
            "a->b": rng.choice(["u", "v", "w"], n),
            "größe 体重": rng.normal(size=n) + left,
            "plan": np.where(rng.random(n) < 0.1, None, rng.choice(["x", "y"], n)),
            TARGET: np.where(left, "yes", "no").astype(object),
        }
    )
    frame.loc[[3, 50], TARGET] = None
    return frame


def write_arff(frame, path):
    """Numbers are numeric, Booleans nominal, everything else is a string."""

    def quoted(value):
        return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"

    kinds = {"i": "numeric", "f": "numeric", "b": "{False,True}", "M": "date"}
    header = [f"@attribute {quoted(c)} {kinds.get(frame[c].dtype.kind, 'string')}" for c in frame]
    rows = [
        ",".join("?" if pd.isna(v) else quoted(v) for v in row)
        for row in frame.itertuples(index=False)
    ]
    path.write_text("\n".join(["@relation t", *header, "@data", *rows, ""]), encoding="utf-8")


WRITERS = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "arff": write_arff,
    "parquet": lambda frame, path: frame.to_parquet(path),
}
"""How a frame is stored, by the extension of the file."""
