// The section "What if?": choices become codes, and the answers are shown beside them.
(() => {
  const model = {{ model }};
{{ engine }}
  {% include "whatif.js" %}
  const engine = classifier(model);
  const { best, contributions, smallestChange } = whatIf(model, engine);
  const section = document.getElementById("what-if");
  const find = (selector) => section.querySelector(selector);
  const choices = [...section.querySelectorAll("select[data-column]")];
  const kept = [...section.querySelectorAll("input[data-keep]")];
  const start = find("#start");
  const signed = (x) => `${x <= -0.005 ? "−" : "+"}${Math.abs(x).toFixed(2)}`;
  // A prediction is never certain.
  const shown = (p) => (p < 0.00005 ? "< 0.0001" : p >= 0.99995 ? "> 0.9999" : p.toFixed(4));
  const element = (name, text, settings = {}) => {
    const made = Object.assign(document.createElement(name), settings);
    made.textContent = text;
    return made;
  };
  const draw = (bar, share) => {
    bar.style.setProperty("--w", Math.abs(share).toFixed(3));
    bar.classList.toggle("against", share < 0);
  };

  const tellChange = (codes, found) => {
    const told = find("#change");
    if (!found.columns) {
      const features = found.searched === 1 ? "1 feature" : `${found.searched} features`;
      told.replaceChildren(found.searched === 0 ? "No known feature may change."
        : found.all ? "Whatever the states of the features that may change, the prediction stays the same."
          : `No change of up to ${features} changes the prediction; larger changes were not tried.`);
      return;
    }
    const list = document.createElement("ul");
    for (const v of found.columns) {
      const { name, labels } = model.columns[v];
      const line = element("li", `${name}: `);
      line.append(element("del", labels[codes[v]]), " → ", element("ins", labels[found.codes[v]]));
      list.append(line);
    }
    const button = element("button", "Apply", { type: "button" });
    button.addEventListener("click", () => fill(found.codes));
    told.replaceChildren(`Then ${model.classes[found.after]} is predicted, with probability ${shown(found.probability)}:`, list, button);
  };

  const update = () => {
    const codes = choices.map((choice) => Number(choice.value));
    const problem = find("#problem");
    problem.hidden = true;
    try {
      const shares = engine.probabilities(engine.logJoint(codes));
      const of = best(shares);
      find("#predicted").textContent = model.classes[of];
      find("#probability").textContent = shown(shares[of]);
      [...section.querySelectorAll("#shares tbody tr")].forEach((line, c) => {
        line.cells[1].textContent = shown(shares[c]);
        line.querySelector(".bar").style.setProperty("--w", shares[c].toFixed(4));
      });
      const { start: before, columns, rest } = contributions(codes, of);
      const most = Math.max(...columns.map(Math.abs), Math.abs(rest), Math.abs(before)) || 1;
      const tell = (row, size) => {
        row.querySelector(".n").textContent = signed(size);
        draw(row.querySelector(".bar"), size / most);
      };
      tell(find("#before"), before);
      columns.forEach((size, v) => tell(choices[v].closest("tr"), size));
      tell(find("#rest"), rest);
      find("#total").textContent = signed(before + rest + columns.reduce((a, b) => a + b, 0));
      tellChange(codes, smallestChange(codes, kept.map((box) => box.checked)));
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      problem.hidden = false;
    }
  };
  const fill = (codes) => {
    choices.forEach((choice, v) => { choice.value = String(codes[v]); });
    update();
  };

  for (const input of [...choices, ...kept]) input.addEventListener("change", update);
  start.addEventListener("change", () => fill(JSON.parse(start.value)));
  // Browsers keep the choices of a page that is loaded again.
  find("form").reset();
  find("form").addEventListener("submit", (event) => event.preventDefault());
  fill(JSON.parse(start.value));
})();
