  // The terms of a model are tables of logarithms over codes; the classes are the last axis.
  const classifier = (model) => {
    const MOST_CELLS = 5e6;
    const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
    const INFINITE = /^([+-]?)inf(inity)?$/i;
    const cards = model.columns.map((column) => column.labels.length);
    const texts = model.columns.map((column) => new Map(column.texts));
    const numbers = model.columns.map((column) => new Map(column.numbers));

    // NaN for what is missing, null for what is not a number.
    const asNumber = (value) => {
      if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint") return Number(value);
      const text = String(value).trim();
      if (text === "" || /^[+-]?nan$/i.test(text)) return NaN;
      if (NUMBER.test(text)) return Number(text);
      const infinite = INFINITE.exec(text);
      return infinite ? (infinite[1] === "-" ? -Infinity : Infinity) : null;
    };

    const code = (column, j, value) => {
      if (value === null || value === undefined) return column.missing;
      const number = asNumber(value);
      if (column.cuts) {
        if (number === null || Number.isNaN(number)) return column.missing;
        if (numbers[j].has(number)) return numbers[j].get(number);
        return column.bins[column.cuts.filter((cut) => cut < number).length];
      }
      const text = typeof value === "boolean" ? (value ? "True" : "False") : String(value);
      const spellings = [text, text.trim()];
      if (typeof value === "boolean") spellings.push(text.toLowerCase(), text.toUpperCase());
      for (const spelling of spellings) if (texts[j].has(spelling)) return texts[j].get(spelling);
      if (number === null) return column.other;
      if (Number.isNaN(number)) return column.missing;
      return numbers[j].has(number) ? numbers[j].get(number) : column.other;
    };

    // The codes of a row; -1 for what is summed out. A column that the row lacks is missing.
    const encode = (row) => model.columns.map((column, j) =>
      code(column, j, Object.hasOwn(row, column.name) ? row[column.name] : null));

    const logSum = (values) => {
      const top = Math.max(...values);
      return top + Math.log(values.reduce((sum, value) => sum + Math.exp(value - top), 0));
    };

    // Calls visit(states) with every combination of the states of the variables.
    const combine = (scope, states, visit, k = 0) => {
      if (k === scope.length) visit(states);
      else for (let s = 0; s < cards[scope[k]]; s++) {
        states[scope[k]] = s;
        combine(scope, states, visit, k + 1);
      }
    };
    const entry = (factor, states, c) => {
      let at = 0;
      for (const v of factor.scope) at = at * cards[v] + states[v];
      return factor.values[at * factor.width + (factor.width > 1 ? c : 0)];
    };

    // The sum of some factors, over all states of `scope`; `over` is summed out, if it is given.
    const product = (factors, scope, width, codes, over) => {
      const values = [];
      const states = codes.slice();
      combine(scope, states, () => {
        for (let c = 0; c < width; c++) {
          const at = () => factors.reduce((sum, factor) => sum + entry(factor, states, c), 0);
          if (over === undefined) values.push(at());
          else values.push(logSum(Array.from({ length: cards[over] }, (_, s) => { states[over] = s; return at(); })));
        }
      });
      return { scope, width, values };
    };

    // log P(c, observed columns, states of `kept`) for the classes of a part: missing columns
    // other than `kept` are summed out one at a time, the smallest tables first.
    const eliminate = (part, codes, kept = []) => {
      const width = part.classes.length;
      const missing = (v) => codes[v] < 0;
      let terms = part.terms;
      // A missing column that only its own table mentions sums to one.
      for (let barren; barren !== null;) {
        barren = terms.find((term) => term.of >= 0 && term.sums && missing(term.of) && !kept.includes(term.of)
          && terms.every((other) => other === term || !other.scope.includes(term.of))) ?? null;
        if (barren) terms = terms.filter((term) => term !== barren);
      }
      let factors = terms.map((term) => product([term], term.scope.filter(missing), width, codes));
      const left = new Set(factors.flatMap((factor) => factor.scope).filter((v) => !kept.includes(v)));
      while (left.size) {
        let best = null;
        for (const v of left) {
          const own = factors.filter((factor) => factor.scope.includes(v));
          const scope = [...new Set(own.flatMap((factor) => factor.scope))].filter((u) => u !== v);
          const cells = scope.reduce((size, u) => size * cards[u], cards[v] * width);
          if (best === null || cells < best.cells) best = { v, own, scope, cells };
        }
        if (best.cells > MOST_CELLS) throw new RangeError("too many values of this row are missing");
        left.delete(best.v);
        factors = factors.filter((factor) => !best.own.includes(factor));
        factors.push(product(best.own, best.scope, width, codes, best.v));
      }
      return product(factors, kept, width, codes);
    };

    // log P(c, observed columns) for every class.
    const logJoint = (codes) => model.parts.flatMap((part) => {
      if (codes.includes(-1)) return eliminate(part, codes).values;
      return part.classes.map((_, c) => part.terms.reduce((sum, term) => sum + entry(term, codes, c), 0));
    });
    const probabilities = (logs) => {
      const total = logSum(logs);
      return logs.map((value) => Math.exp(value - total));
    };
    return { cards, encode, entry, combine, eliminate, logJoint, probabilities, logSum };
  };
