"""Runs on a cluster: an executor (`cwndlab.runs.executors`) on `dask.distributed`.

`connect` finds the cluster and checks its workers; `Dask` keeps them busy; `payload` packs what a
scenario names and does not contain, so that workers need no local file; `worker` is a worker's
side.

dask.distributed is an optional extra, and is imported only for a cluster.
"""

from __future__ import annotations

from cwndlab.runs.cluster.client import connect, silence
from cwndlab.runs.cluster.executor import Dask

__all__ = ["Dask", "connect", "silence"]
