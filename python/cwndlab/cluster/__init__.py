"""Runs on a cluster: an executor (`cwndlab.executors`) on `dask.distributed`.

`connect` finds the cluster and asks its workers what they are; `Dask` keeps them busy; `payloads`
packs what a scenario names and does not contain, so that workers need no file of ours; `worker` is
what a worker does.

dask.distributed is an optional extra, imported when a cluster is asked for and not before.
"""

from __future__ import annotations

from cwndlab.cluster.client import connect, silence
from cwndlab.cluster.executor import Dask

__all__ = ["Dask", "connect", "silence"]
