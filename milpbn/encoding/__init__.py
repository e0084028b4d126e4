"""From raw columns to discrete states: MDLP cuts, state codebooks, missing values."""
