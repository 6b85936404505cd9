"""Candidates of a reduction: what each part of a case can shrink to. One part a file: pipeline,
schedule, function, signature, inputs."""
