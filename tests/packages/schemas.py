"""Checks texts against a JSON schema as editors and CI systems do: with YAML 1.2, and by the schema alone.

    python3 schemas.py SCHEMA < CASES > VERDICTS

Cases are JSON lines {"name": …, "text": …}; a verdict {"name": …, "error": …} has the first error, or null.
"""

import json
import sys

import jsonschema
from ruamel.yaml import YAML

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
for line in sys.stdin:
    case = json.loads(line)
    try:
        value = YAML(typ="safe", pure=True).load(case["text"])
        error = next((error.message for error in validator.iter_errors(value)), None)
    except Exception as failure:
        error = str(failure)
    print(json.dumps({"name": case["name"], "error": error}))
