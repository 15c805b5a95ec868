"""Asks hyera, a Python port of Hiera that was measured against Puppet 8.10, the questions that the oracle (tests/puppet/oracle) asks Puppet.

Jobs come as JSON lines on standard input, each with the tree, the scope and the questions; one line of answers goes out for each.
"""

import base64
import json
import logging
import math
import os
import sys

import hyera

logging.disable(logging.CRITICAL)


def rendered(value):
    """The value as the oracle writes it; a value of one of hyera's own types is shown by the type's name."""
    if isinstance(value, hyera.Sensitive):
        return {"__ptype": "Sensitive", "__pvalue": rendered(value.unwrap())}
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(rendered(key)): rendered(member) for key, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [rendered(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        names = {math.inf: "Infinity", -math.inf: "-Infinity"}
        return {"__ptype": "Float", "__pvalue": names.get(value, "NaN")}
    if isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        pieces = base64.b64encode(value.encode("utf-8", "surrogateescape")).decode()
        return {"__ptype": "Binary", "__pvalue": pieces}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return {"__ptype": type(value).__name__, "__pvalue": str(value)}


def answer(hiera, question):
    try:
        return {"found": True, "value": rendered(hiera().lookup(question["key"], merge=question.get("merge")))}
    except hyera.KeyNotFoundError:
        return {"found": False}
    except Exception as error:  # An error of any kind is an answer, too.
        return {"error": f"{error}" or type(error).__name__}


def answers(job):
    # An environment is found by its name, and called otherwise on disk.
    environments = os.path.join(os.path.dirname(job["root"]), "environments")
    os.makedirs(environments, exist_ok=True)
    production = os.path.join(environments, "production")
    if not os.path.islink(production):
        os.symlink(job["root"], production)
    scope = dict(job["scope"])
    facts, trusted = scope.pop("facts", None), scope.pop("trusted", None)
    bound = hyera.Scope(variables=scope, facts=facts, trusted=trusted, strict=job["strict"])
    paths = {"environmentpath": environments, "scope": bound, "codedir": os.path.join(environments, "none")}

    def hiera():
        config = job.get("global_hiera_config")
        if config:
            return hyera.Hiera(config, **paths)
        return hyera.Hiera(None, base_path=os.path.join(environments, "none"), **paths)

    return [answer(hiera, question) for question in job["questions"]]


for line in sys.stdin:
    job = json.loads(line)
    print(json.dumps({"id": job["id"], "answers": answers(job)}), flush=True)
