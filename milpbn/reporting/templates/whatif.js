// What a page says about a case, given as codes; -1 is not known.
const whatIf = (model, { cards, entry, combine, eliminate, logJoint, probabilities, logSum }) => {
  // So many cases are computed to find a change; sums over what is not known take longer.
  const MOST_CASES = 200000;
  const MOST_INCOMPLETE = 4000;
  const best = (values) => values.indexOf(Math.max(...values));

  // What each column adds to log P(c, z), for every class: the expectation of the logarithm of its
  // table under the distribution of what is not known, given the rest and the class.
  const termsOf = (part, codes) => part.terms.map((term) => {
    const hidden = term.scope.filter((v) => codes[v] < 0);
    if (term.of >= 0 && codes[term.of] < 0) return null; // see `rest`
    if (!hidden.length) return part.classes.map((_, c) => entry(term, codes, c));
    const joint = eliminate(part, codes, hidden);
    return part.classes.map((_, c) => {
      const states = codes.slice();
      const logs = [], own = [];
      combine(hidden, states, () => {
        logs.push(entry(joint, states, c));
        own.push(entry(term, states, c));
      });
      const total = logSum(logs);
      return logs.reduce((sum, value, k) => sum + Math.exp(value - total) * own[k], 0);
    });
  });

  // The contributions to the log-odds of class `of` against all others: of the class itself, of
  // each column, and the rest, which is what the unknown columns add together.
  const contributions = (codes, of) => {
    const joint = logJoint(codes);
    const classes = joint.map((_, c) => c);
    const terms = Array.from({ length: model.columns.length + 2 }, () => classes.map(() => 0));
    for (const part of model.parts) {
      const found = termsOf(part, codes);
      part.classes.forEach((c, k) => {
        part.terms.forEach((term, t) => { if (found[t]) terms[term.of + 1][c] += found[t][k]; });
      });
    }
    const rest = terms.length - 1;
    for (const c of classes) terms[rest][c] = joint[c] - terms.reduce((sum, term) => sum + term[c], 0);
    const rivals = classes.filter((c) => c !== of);
    const shares = probabilities(rivals.map((c) => joint[c]));
    const entropy = shares.reduce((sum, p) => sum - (p > 0 ? p * Math.log(p) : 0), 0);
    const sizes = terms.map((term) => rivals.reduce((sum, c, k) => sum + shares[k] * (term[of] - term[c]), 0));
    return { start: sizes[0] - entropy, columns: sizes.slice(1, rest), rest: sizes[rest] };
  };

  // The fewest known columns that lead to another prediction if their states are changed; of all
  // such changes the one with the largest probability. Without one, `searched` is the number of
  // columns that may be changed without effect, and `all` says whether there are no more.
  const smallestChange = (codes, keep) => {
    const targets = model.columns.map((column, v) => {
      if (codes[v] < 0 || keep[v]) return [];
      return column.labels.map((_, s) => s).filter((s) => s !== codes[v] && s !== column.missing);
    });
    const free = targets.map((_, v) => v).filter((v) => targets[v].length);
    const before = best(logJoint(codes));
    // ways[k]: in how many ways k columns can be changed.
    const ways = [1];
    for (const v of free) for (let k = ways.length; k > 0; k--) {
      ways[k] = (ways[k] ?? 0) + ways[k - 1] * targets[v].length;
    }
    let left = codes.includes(-1) ? MOST_INCOMPLETE : MOST_CASES;
    for (let size = 1; size <= free.length; size++) {
      left -= ways[size];
      if (left < 0) return { searched: size - 1, all: false };
      let found = null;
      const changed = codes.slice();
      const visit = (from, more) => {
        if (!more) {
          const joint = logJoint(changed);
          const after = best(joint);
          if (after === before) return;
          const probability = probabilities(joint)[after];
          if (found && found.probability >= probability) return;
          const columns = free.filter((v) => changed[v] !== codes[v]);
          found = { columns, codes: changed.slice(), after, probability };
          return;
        }
        for (let j = from; j <= free.length - more; j++) {
          const v = free[j];
          for (const s of targets[v]) {
            changed[v] = s;
            visit(j + 1, more - 1);
          }
          changed[v] = codes[v];
        }
      };
      visit(0, size);
      if (found) return found;
    }
    return { searched: free.length, all: true };
  };

  return { best, contributions, smallestChange };
};
