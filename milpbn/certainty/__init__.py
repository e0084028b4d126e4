"""How certain is a structure? Arc margins, the best structures, the stability under resampling."""
