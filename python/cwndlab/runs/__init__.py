"""Many runs: a plan of scenarios, what executes it (threads, Dask) and where results are stored.

`plan` says which scenarios are run and with which seeds, `executors` and `cluster` run them,
`collection` gathers their frames, `store` keeps them on disk. `compare`, `against`, `sweep`,
`search` and `reproduce` stand on these modules.
"""
