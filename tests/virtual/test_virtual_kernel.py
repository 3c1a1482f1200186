"""Tests of kernels in virtual time, with a kernel where one is built, else with a stand-in."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from cwndlab import run as simulate
from cwndlab import sweeps
from cwndlab.cli.app import app
from cwndlab.errors import LiveError, RunError
from cwndlab.kernel_runs import building, kernels, program, source_tree, virtual
from cwndlab.live_runs.run import counterpart, linux
from cwndlab.scenario import Scenario
from virtual.kept import every, read, run
from virtual.scenarios import NAMED
from waiting import HANG_S, wait_until

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or not program.BUILT.is_file(), reason="needs `make live`"
)

FAKE = """#!/bin/sh
for argument; do folder=$argument; done
{body}
"""
RESULT = '{"event":"result","run":{},"traces":{}}'


@pytest.fixture
def _home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


at_home = pytest.mark.usefixtures("_home")


def fake(body: str, name: str = "default") -> kernels.Kernel:
    """A stand-in for a kernel: a script that gets the kernel's arguments."""
    kernel = kernels.Kernel(name, "6.12.0", 1000, ("cubic", "reno"), "0" * 16, "test")
    kernel.binary.parent.mkdir(parents=True)
    kernel.binary.write_text(FAKE.format(body=body))
    kernel.binary.chmod(0o755)
    kernel.save()
    return kernel


def scenario() -> Scenario:
    return Scenario.from_dict(NAMED["drop-tail"])


@at_home
def test_without_a_kernel_it_says_how_to_get_one():
    with pytest.raises(LiveError, match="cwndlab virtual-kernel build"):
        kernels.find()


@at_home
def test_an_unknown_kernel_is_refused_by_name():
    fake("exit 0")
    with pytest.raises(LiveError, match=r'kernel: "defualt" is not known: .*did you mean default'):
        kernels.find("defualt")
    fake("exit 0", "mine")
    assert [kernel.name for kernel in kernels.installed()] == ["default", "mine"]


@at_home
def test_other_machines_are_refused_in_one_sentence(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    with pytest.raises(LiveError, match="run on Linux on x86-64, and this is Linux on aarch64"):
        kernels.find()


@at_home
def test_an_error_of_the_guest_keeps_its_message_and_code():
    line = '{"event":"error","message":"kernel:x is not available","code":2}'
    kernel = fake(f"echo '{line}' > $folder/events.jsonl; sleep 60")
    with pytest.raises(LiveError, match=r"^kernel:x is not available$"):
        linux(scenario(), kernel=kernel)


@at_home
def test_a_panic_is_one_sentence():
    kernel = fake("echo '[0.1] Kernel panic - not syncing: Out of memory'; exit 1")
    with pytest.raises(RunError, match="virtual kernel: the kernel panicked: Out of memory"):
        linux(scenario(), kernel=kernel)


@at_home
def test_a_kernel_that_ends_without_a_result_says_its_last_line():
    kernel = fake("echo first; echo 'cannot map'; exit 3")
    with pytest.raises(RunError, match="ended without a result: cannot map"):
        linux(scenario(), kernel=kernel)


@at_home
def test_the_kernel_gets_the_seed_and_no_other_environment(tmp_path):
    seen = tmp_path / "seen"
    kernel = fake(f"env > {seen}; exit 1")
    with pytest.raises(RunError):
        linux(scenario().set("seed", 7), kernel=kernel)
    names = {line.split("=")[0] for line in seen.read_text().splitlines()}
    assert "CWNDLAB_SEED=7" in seen.read_text().splitlines()
    assert names <= {"CWNDLAB_SEED", "TMPDIR", "PWD", "SHLVL", "_", "OLDPWD"}


@at_home
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_kernel_and_removes_its_folder(tmp_path, stop):
    kernel = fake(f"echo $$ $folder > {tmp_path}/started; sleep 300")
    request = {"scenario": scenario().to_dict(), "kernel": str(kernel.binary)}
    process = subprocess.Popen(
        [program.find(), "virtual"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    process.stdin.write(json.dumps(request))
    process.stdin.close()
    started = tmp_path / "started"
    wait_until(lambda: started.exists() and len(started.read_text().split()) == 2)
    pid, folder = started.read_text().split()
    process.send_signal(stop)
    assert "stopped" in process.stdout.read()
    process.stdout.close()
    assert process.wait(HANG_S) == 1
    assert not Path(folder).exists()
    wait_until(lambda: not Path(f"/proc/{pid}").exists())


@at_home
def test_list_and_live_name_kernels():
    fake("exit 1")
    found = CliRunner().invoke(app, ["virtual-kernel", "list"])
    assert (found.exit_code, "6.12.0" in found.output) == (0, True)
    refused = CliRunner().invoke(app, ["live", "linux", "x.toml", "--kernel", "default"])
    assert (refused.exit_code, "needs `--virtual`" in refused.output) == (2, True)


@at_home
def test_kernels_of_one_identity_are_twins():
    for name in ("before", "after", "third"):
        fake("exit 1", name)
    other = dataclasses.replace(kernels.find("third"), identity="1" * 16)
    other.save()
    homes = ["simulator", "linux:before", "linux:after", "linux:third"]
    assert virtual.twins(homes) == [("linux:before", "linux:after")]
    with pytest.raises(LiveError, match="name one of after, before, third"):
        kernels.find()


@at_home
def test_a_kernel_is_removed_with_its_build():
    kernel = fake("exit 1", "after")
    build = kernels.cache() / "build" / "after"
    build.mkdir(parents=True)
    done = CliRunner().invoke(app, ["virtual-kernel", "remove", "after"])
    assert done.exit_code == 0
    assert not build.exists()
    assert not kernel.binary.exists()
    again = CliRunner().invoke(app, ["virtual-kernel", "remove", "after"])
    assert isinstance(again.exception, LiveError)


@at_home
def test_a_second_build_of_a_source_begins_as_a_copy_of_the_first(tmp_path):
    source = str(tmp_path / "linux")
    dataclasses.replace(fake("exit 1", "before"), source=source).save()
    made = kernels.cache() / "build/before/net/tcp.o"
    made.parent.mkdir(parents=True)
    made.write_text("compiled")
    after = kernels.cache() / "build/after"
    building._begin_as_another(after, Path(source), lambda _step, _done: None)
    copy = after / "net/tcp.o"
    assert (copy.read_text(), copy.stat().st_mtime_ns) == ("compiled", made.stat().st_mtime_ns)
    building._begin_as_another(other := after.with_name("other"), tmp_path, lambda *_: None)
    assert not other.exists()


def test_one_home_replaces_an_axis_of_homes():
    axes = {"home": ["linux:before", "linux:after"], "rule": ["kernel:reno"]}
    given = sweeps.as_sweep({"base": NAMED["drop-tail"], "axes": axes, "replicates": 1})
    assert sweeps.at_homes(given, ["simulator"]).axes["home"] == ["simulator"]
    assert sweeps.at_homes(given, []).axes == given.axes
    plain = sweeps.as_sweep(
        {"base": NAMED["drop-tail"], "axes": {"rule": axes["rule"]}, "replicates": 1}
    )
    assert sweeps.at_homes(plain, ["linux"]).to_dict()["base"]["home"] == "linux"
    assert "home" in sweeps.at_homes(plain, ["linux", "simulator"]).axes


# A tree that has what a build edits and asks for.
RANDOM = (
    "static void crng_reseed(struct work_struct *work)\n{\n"
    "\tif (likely(system_unbound_wq))\n"
    "\t\tqueue_delayed_work(system_unbound_wq, &next_reseed, crng_reseed_interval());\n\n"
    "\textract_entropy(key, sizeof(key));\n\n"
    "\t/*\n\t * We copy the new key into the base_crng\n"
)
TREE = {
    "net/ipv4/tcp.c": "int tcp;\n",
    "net/ipv4/Makefile": "obj-$(CONFIG_TCP_CONG_BIC) += tcp_bic.o\n",
    "arch/um/Kconfig": "config HZ\n\tint\n\tdefault 100\n\nconfig X\n",
    "arch/um/os-Linux/Makefile": "obj-y = util.o\nUSER_OBJS := util.o\n",
    "drivers/char/random.c": RANDOM,
}


def tree(at: Path) -> Path:
    for path, text in TREE.items():
        (at / path).parent.mkdir(parents=True, exist_ok=True)
        (at / path).write_text(text)
    return at


def copied(source: Path, to: Path, hz: int = 250) -> None:
    to.mkdir(exist_ok=True)
    source_tree.copy(source, to, source_tree.edits(hz), lambda _step, _done: None)


def test_a_copy_is_edited_and_the_source_stays(tmp_path):
    source, build = tree(tmp_path / "source"), tmp_path / "build"
    copied(source, build)
    assert "default 250" in (build / "arch/um/Kconfig").read_text()
    assert "obj-y += cwndlab/\n" in (build / "net/ipv4/Makefile").read_text()
    edited = (build / "drivers/char/random.c").read_text()
    assert edited.count("cwndlab_key(") == 2
    assert "extract_entropy(key" not in edited
    assert "queue_delayed_work" not in edited
    assert {path: (source / path).read_text() for path in TREE} == TREE


def test_only_what_changed_is_copied_again_and_what_is_gone_goes(tmp_path):
    source, build = tree(tmp_path / "source"), tmp_path / "build"
    (source / "net/ipv4/old.c").write_text("old")
    copied(source, build)
    made = build / "net/ipv4/tcp.o"
    made.write_text("compiled")
    before = {path: (build / path).stat().st_mtime_ns for path in TREE}
    (source / "net/ipv4/old.c").unlink()
    (source / "net/ipv4/tcp.c").write_text("int tcp = 2;\n")
    copied(source, build)
    changed = [path for path in TREE if (build / path).stat().st_mtime_ns != before[path]]
    assert changed == ["net/ipv4/tcp.c"]
    assert made.exists()
    assert not (build / "net/ipv4/old.c").exists()
    # A source that is older than what was compiled from another is compiled all the same.
    (source / "net/ipv4/tcp.c").write_text("int tcp = 3;\n")
    os.utime(source / "net/ipv4/tcp.c", (0, 0))
    copied(source, build)
    assert (build / "net/ipv4/tcp.c").stat().st_mtime_ns > made.stat().st_mtime_ns


def test_a_copy_replaces_what_a_tarball_left(tmp_path):
    source, build = tree(tmp_path / "source"), tmp_path / "build"
    packed = tmp_path / "linux.tar"
    subprocess.run(["tar", "cf", packed, "-C", tmp_path, "source"], check=True)
    build.mkdir()
    edits = source_tree.edits(300)
    source_tree.unpack(packed, build, edits, lambda _step, _done: None)
    assert "default 300" in (build / "arch/um/Kconfig").read_text()
    (build / "net/ipv4/only_packed.c").write_text("x")
    copied(source, build)
    assert "default 250" in (build / "arch/um/Kconfig").read_text()
    assert not (build / "net/ipv4/only_packed.c").exists()


@at_home
def test_what_was_built_in_a_tree_is_not_copied(tmp_path):
    source, build = tree(tmp_path / "source"), tmp_path / "build"
    (source / ".config").write_text("CONFIG_X=y\n")
    with pytest.raises(LiveError, match="holds a build: expected a clean tree"):
        copied(source, build)
    (source / ".gitignore").write_text(".config\n*.o\n")
    (source / "net/ipv4/tcp.o").write_text("compiled")
    subprocess.run(["git", "init", "-q", str(source)], check=True)
    copied(source, build)
    assert (build / "net/ipv4/tcp.c").exists()
    assert not (build / ".config").exists()
    assert not (build / "net/ipv4/tcp.o").exists()


def test_a_tree_that_is_none_of_linux_is_refused(tmp_path):
    with pytest.raises(LiveError, match="a tree of Linux, or a tarball of one"):
        building.build(tmp_path)


def test_a_kernel_that_lacks_a_line_to_edit_is_refused_by_it(tmp_path):
    source = tree(tmp_path / "source")
    (source / "drivers/char/random.c").write_text("x();\n")
    with pytest.raises(LiveError, match=r"drivers/char/random\.c of this kernel lacks the line"):
        copied(source, tmp_path / "build")


def test_the_identity_forgets_the_compiler():
    a = 'CONFIG_CC_VERSION_TEXT="gcc 12"\nCONFIG_GCC_VERSION=120200\nCONFIG_HZ=1000\n# X\n'
    b = 'CONFIG_CC_VERSION_TEXT="gcc 14"\nCONFIG_GCC_VERSION=140200\nCONFIG_HZ=1000\n'
    assert building._configuration(a) == building._configuration(b)
    c = b.replace("1000", "250")
    assert building._configuration(b) != building._configuration(c)


def built() -> kernels.Kernel:
    """The kernel of the kept outputs, if this user has it."""
    try:
        kernel = kernels.find()
    except LiveError as error:
        pytest.skip(str(error))
    if kernel.identity != read()["identity"]:
        pytest.skip(f"kernel {kernel.name} is not the one of the kept outputs")
    return kernel


def test_kept_outputs_are_valid_and_whole():
    kept = read()["runs"]
    assert sorted(kept) == sorted(every())
    assert {name: output["reasons"] for name, output in kept.items() if output["reasons"]} == {}


@pytest.mark.parametrize("name", sorted(every())[::10])
def test_the_kernel_repeats_its_kept_packets(name):
    assert run(built(), every()[name])["hash"] == read()["runs"][name]["hash"]


@pytest.mark.nightly
def test_the_kernel_repeats_all_its_kept_packets_beside_busy_processes():
    kernel, kept = built(), read()["runs"]
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4)]
    try:
        found = {name: run(kernel, case)["hash"] for name, case in every().items()}
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert {name for name in found if found[name] != kept[name]["hash"]} == set()


def test_rules_of_ones_own_run_in_the_kernel_as_in_the_simulator():
    """Reductions and queue of long flows agree: theory gives both from the rule alone.

    Rules in the kernel keep fractions of packets, as their simulated counterparts do.
    """
    kernel = built()
    for rule in ("GAIMD(0.31, 0.875)", "SQRT(1, 0.5)", "MIMD(1.01, 0.8)",
                 'Rule(inc="1 + log(w)/10", dec="w - 0.5*w^0.7")', "MRAIMD(1, 0.5, 0.005, 0.5)",
                 "Bimodal(1, 0.5, 0.125)"):  # fmt: skip
        case = {**SAWTOOTH, "flows": [{"rule": rule}]}
        with_kernel = linux(case, kernel=kernel)
        simulated = simulate(counterpart(Scenario.from_dict(case)))
        assert with_kernel.valid, with_kernel.reasons
        lost, modelled = (run.flows["retransmitted_packets"][0] for run in (with_kernel, simulated))
        assert lost == pytest.approx(modelled, rel=0.1), rule
        waits = [run.links["mean_queueing_delay_s"][0] for run in (with_kernel, simulated)]
        assert waits[0] == pytest.approx(waits[1], rel=0.1), rule


SAWTOOTH = {
    "duration": "30s",
    "dumbbell": {"rate": "10Mbit", "delay": "20ms",
                 "queue": {"kind": "drop-tail", "limit": "40pkt"}},
}  # fmt: skip


def test_linux_kernels_reno_is_aimd_as_a_rule_of_ones_own():
    kernel = built()
    runs = [linux({**SAWTOOTH, "flows": [{"rule": rule}]}, kernel=kernel)
            for rule in ("kernel:reno", "AIMD(1, 0.5)")]  # fmt: skip
    lost = [run.flows["retransmitted_packets"][0] for run in runs]
    assert abs(lost[0] - lost[1]) <= 2
    assert [rule["skipped_callbacks"] for rule in runs[1].kernel_rules] == [0]


@pytest.mark.parametrize("window", [15, 20, 25])
def test_the_kernel_says_as_well_that_the_receivers_window_limits(window):
    """A window below the 33 packets of the path limits all but the start, four round trips of 6 s.

    `rwnd_limited` of the kernel is a part of `busy_time`, which here is the flow's whole time.
    """
    kernel = built()
    case = NAMED["receiver-limited"]
    case = {**case, "flows": [{**case["flows"][0], "tcp": {"window": window}}]}
    with_kernel = linux(case, kernel=kernel).kernel_flows[0]
    share = with_kernel["window_limited_s"] / with_kernel["busy_s"]
    simulated = simulate(counterpart(Scenario.from_dict(case))).flows["limited_by_receiver"][0]
    assert share > 1 - 4 * 0.05 / 6
    assert simulated == pytest.approx(share, abs=0.05 / 6)


def test_settings_of_linux_reach_the_kernel_or_are_refused_by_name():
    kernel = built()

    def sent(**settings: object) -> tuple[int, str]:
        run = linux({**NAMED["drop-tail"], "linux": settings}, kernel=kernel)
        return run.flows["total_sent_packets"][0], run.trace_hash

    plain = sent()
    for setting in ({"tcp_recovery": 0, "tcp_sack": 0}, {"initcwnd": 3}, {"quickack": True},
                    {"gso_max_segs": 1}, {"tcp_ecn": 1}):  # fmt: skip
        assert sent(**setting)[1] != plain[1], setting
    # A window of 20 kB at a round trip of 40 ms limits a flow to 4 Mbit/s of its 10.
    assert sent(tcp_rmem="4096 20000 20000")[0] < plain[0] / 2
    for setting, why in (
        ({"tcp_no_such": 1}, r"linux\.tcp_no_such: this kernel has no such setting"),
        ({"tcp_recovery": "x"}, r"linux\.tcp_recovery: the kernel does not take x"),
    ):
        with pytest.raises(LiveError, match=why):
            sent(**setting)
