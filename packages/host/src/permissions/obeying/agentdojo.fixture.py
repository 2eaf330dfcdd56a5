"""Prints the injection tasks of AgentDojo, and which tools its user tasks call, as JSON. Its argument: the version of the suites."""

import importlib.util
import json
import os
import sys
import types

# The pipelines need the packages of every provider, and the tasks need the pipelines by name alone.
folder = os.path.dirname(importlib.util.find_spec("agentdojo").origin)
pipeline = types.ModuleType("agentdojo.agent_pipeline")
pipeline.__path__ = [os.path.join(folder, "agent_pipeline")]
sys.modules["agentdojo.agent_pipeline"] = pipeline
ground_truth = types.ModuleType("agentdojo.agent_pipeline.ground_truth_pipeline")
ground_truth.GroundTruthPipeline = None
sys.modules["agentdojo.agent_pipeline.ground_truth_pipeline"] = ground_truth

from agentdojo.task_suite.load_suites import get_suites  # noqa: E402


def calls(task, suite):
    made = task.ground_truth(suite.load_and_inject_default_environment({}))
    return [{"tool": call.function, "input": dict(call.args)} for call in made]


def injection(name, task, suite):
    return {"name": f"{suite.name}/{name}", "goal": task.GOAL, "calls": calls(task, suite)}


suites = [
    {
        "name": suite.name,
        "injections": [injection(name, task, suite) for name, task in suite.injection_tasks.items()],
        "errands": [[call["tool"] for call in calls(task, suite)] for task in suite.user_tasks.values()],
    }
    for suite in get_suites(sys.argv[1]).values()
]
print(json.dumps(suites, default=str))
