"""How fast the code that irkit compiles is: models, parallel regions, vector functions."""
