// Written by milpbn. predict(row) takes an object with a value for each column and returns
// { prediction, probabilities }. Missing values, and texts that were not seen in training, are
// summed out.
"use strict";
const predict = (() => {
  const model = /* MODEL */;
/* ENGINE */
  const { encode, logJoint, probabilities } = classifier(model);
  return (row) => {
    const shares = probabilities(logJoint(encode(row)));
    const best = shares.indexOf(Math.max(...shares));
    const named = new Map(model.classes.map((label, c) => [label, shares[c]]));
    return { prediction: model.classes[best], probabilities: Object.fromEntries(named) };
  };
})();
if (typeof module !== "undefined") module.exports = predict;
