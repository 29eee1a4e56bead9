"""Results: one Struct for each kind of answer. It is the JSON document; tables, CSV and charts are made of it."""
