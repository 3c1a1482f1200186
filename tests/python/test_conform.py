"""`cwndlab conform`: what scripts of packetdrill say is compared with what the simulator's sender
does, line by line."""

from __future__ import annotations

import json
import os
import textwrap
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from cwndlab import outputs
from cwndlab.conformance import Script, Verdict, confirmation, play
from cwndlab.conformance.confirmation import Confirmation
from cwndlab.errors import ScenarioError

OPEN = """\
0    socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0   bind(3, ..., ...) = 0
+0   listen(3, 1) = 0
+0   < S 0:0(0) win 30000 <mss 1000,sackOK,nop,nop,nop,wscale 8>
+0   > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 8>
+.05 < . 1:1(0) ack 1 win 300
+0   accept(3, ..., ...) = 4
"""
"""A peer connects: RTT 50 ms, packets of 1,000 bytes, SACK, a window of 76,800 bytes."""
SLOW_START = (
    OPEN
    + """\
+0   write(4, ..., 20000) = 20000
+0   > P. 1:10001(10000) ack 1
+.05 < . 1:1(0) ack 4001 win 300
+0   > . 10001:18001(8000) ack 1
+0   %{ assert tcpi_snd_cwnd == 14, tcpi_snd_cwnd }%
"""
)
CORKED = OPEN + "+0 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0\n"


def played(text: str, tmp_path: Path = Path(), **options: object) -> Verdict:
    return play(Script.parse(text), tmp_path, **options)


def written(folder: Path, **scripts: str) -> list[Path]:
    for name, text in scripts.items():
        (folder / f"{name}.pkt").write_text(text)
    return [folder / f"{name}.pkt" for name in scripts]


# Verdicts


def test_ten_packets_leave_and_each_that_is_acknowledged_in_slow_start_releases_two():
    assert played(SLOW_START) == Verdict("script", "agrees", checks=3)


def test_the_first_difference_is_shown_in_the_notation_of_the_script():
    verdict = played(SLOW_START.replace("10001:18001(8000)", "10001:14001(4000)"))
    assert verdict.agrees, "packets that the script does not name are not compared"
    verdict = played(SLOW_START.replace("10001:18001(8000)", "11001:18001(7000)"))
    assert (verdict.verdict, verdict.line) == ("differs", 11)
    assert verdict.expected == "+0 > . 11001:18001(7000) ack 1"
    assert verdict.found == "sent +0.000000 > . 10001:17001(7000)"


def test_an_assertion_that_fails_has_what_was_found():
    verdict = played(SLOW_START.replace("== 14", "== 20"))
    assert (verdict.verdict, verdict.line) == ("differs", 12)
    assert (verdict.expected, verdict.found) == (
        "assert tcpi_snd_cwnd == 20", "found tcpi_snd_cwnd == 14",
    )  # fmt: skip


def test_what_is_not_sent_is_named():
    verdict = played(OPEN + "+0 > . 1:1001(1000) ack 1\n")
    assert (verdict.verdict, verdict.found) == ("differs", "sent nothing")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("+0 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0", "setsockopt TCP_CORK"),
        ("+0 sendto(4, ..., 500, MSG_MORE, ..., ...) = 500", "MSG_MORE"),
        ("+0 splice(3, NULL, 4, NULL, 100, 0) = 100", "splice()"),
        ("+0 `sysctl -q net.ipv4.tcp_recovery=0`", "tcp_recovery=0"),
        ("+0 `tc qdisc replace dev tun0 root netem delay 5ms`", "tc qdisc netem"),
        ("+0 `reboot`", "`reboot`"),
        ("+0 %{ assert tcpi_options == 7 }%", "tcpi_options"),
        ("+0 %{ import os }%", "import os"),
        ("+0 %{ x = open('x', 'w') }%", "open('x', 'w')"),
        ("+0 < icmp unreachable host_unreachable [1:1(0)]", "icmp"),
        ("+0 < S 5:5(0) win 100 <mss 1000>", "a second connection"),
        ("+0 < . 1:1(0) ack 1 win 9 <sack 2:3 4:5 6:7 8:9>", "4 SACK blocks"),
        ("+0 close(4) = 0", "data outstanding"),
        ("+0 `sysctl net.ipv4.tcp_early_retrans=0`", "other settings for an open connection"),
    ],
)
def test_what_the_simulator_has_not_is_named_with_its_line(line, reason, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    verdict = played(f"{OPEN}+0 write(4, ..., 1000) = 1000\n{line}\n", tmp_path)
    assert (verdict.verdict, verdict.line) == ("not modelled", 9)
    assert reason in verdict.found
    assert not list(tmp_path.iterdir()), "nothing of a script is run"


def test_a_script_without_a_senders_data_is_no_agreement():
    assert played(OPEN).verdict == "not modelled"


# What is compared


def test_the_tolerance_is_a_tick_or_an_eighth_of_the_time_since_the_event_before():
    """One packet is outstanding: its probe comes after 2 srtt and min_rto, the RTO before that."""
    script = (
        OPEN
        + "+0 write(4, ..., 1000) = 1000\n+0 > P. 1:1001(1000) ack 1\n{} > P. 1:1001(1000) ack 1\n"
    )
    assert played(script.format("+.27")).agrees
    assert played(script.format("+.2~+.28")).agrees
    late = played(script.format("+.2"))
    assert late.verdict == "differs"
    assert "late, tolerance 0.025 s" in late.found
    assert played(script.format("+.2"), tolerance_us=80_000).agrees
    assert played("--tolerance_usecs=80000\n" + script.format("+.2")).agrees


def test_a_block_counts_the_packets_that_lie_whole_in_it():
    """Half a packet is none; three packets SACKed repair the first."""
    script = (
        OPEN
        + """\
+0   write(4, ..., 5000) = 5000
+0   > P. 1:5001(5000) ack 1
+.05 < . 1:1(0) ack 1 win 300 <sack 501:2501,nop,nop>
+0   %{ assert tcpi_sacked == 1 and tcpi_ca_state == TCP_CA_Disorder }%
+0   < . 1:1(0) ack 1 win 300 <sack 1001:5001,nop,nop>
+0   > . 1:1001(1000) ack 1
+0   %{
lost = 1
assert tcpi_lost == lost, tcpi_lost
assert tcpi_ca_state == TCP_CA_Recovery
}%
"""
    )
    assert played(script).agrees
    verdict = played(script.replace("lost = 1", "lost = 2"))
    assert (verdict.line, verdict.found) == (16, "found tcpi_lost == 1, lost == 2")


def test_without_sack_three_duplicate_acks_repair_the_first_packet():
    script = (
        OPEN.replace("sackOK,", "").replace("nop,nop,sackOK,", "")
        + """\
+0   write(4, ..., 6000) = 6000
+0   > P. 1:6001(6000) ack 1
+.05 < . 1:1(0) ack 1 win 300
+0   < . 1:1(0) ack 1 win 300
+0   %{ assert tcpi_sacked == 2 }%
+0   < . 1:1(0) ack 1 win 300
+0   > . 1:1001(1000) ack 1
+0   %{ assert tcpi_snd_ssthresh == 7 }%
"""
    )
    assert played(script).agrees


def test_a_window_of_zero_is_probed_and_its_opening_lets_data_out():
    script = (
        OPEN
        + """\
+0   write(4, ..., 1000) = 1000
+0   > P. 1:1001(1000) ack 1
+.05 < . 1:1(0) ack 1001 win 0
+0   write(4, ..., 2000) = 2000
+.25 > . 1000:1000(0) ack 1
+.5  > . 1000:1000(0) ack 1
+.1  < . 1:1(0) ack 1001 win 300
+0   > P. 1001:3001(2000) ack 1
"""
    )
    assert played(script).agrees


def test_a_connection_that_the_sender_opens_has_timestamps_and_ecn():
    script = """\
`sysctl -q net.ipv4.tcp_ecn=1`
0    socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+.1  ... 0.2 connect(3, ..., ...) = 0
+0   > SEW 0:0(0) <mss 1460,sackOK,TS val 100 ecr 0,nop,wscale 8>
+.05 < SE. 0:0(0) ack 1 win 30000 <mss 1460,sackOK,TS val 700 ecr 100,nop,wscale 8>
+0   > . 1:1(0) ack 1 <nop,nop,TS val 150 ecr 700>
+0   write(3, ..., 5792) = 5792
+0   > [ect0] P. 1:5793(5792) ack 1 <nop,nop,TS val 150 ecr 700>
+.05 < E. 1:1(0) ack 1449 win 300 <nop,nop,TS val 750 ecr 150>
+0   %{ assert tcpi_ca_state == TCP_CA_CWR and tcpi_snd_mss == 1448 }%
"""
    assert played(script).agrees
    assert played(script.replace("[ect0]", "[noecn]")).found.startswith("sent [ect0] ")


def test_a_second_short_packet_waits_for_the_first_unless_nagle_is_off():
    script = (
        OPEN
        + """\
{}+0 write(4, ..., 300) = 300
+0   > P. 1:301(300) ack 1
+0   write(4, ..., 300) = 300
+.05 < . 1:1(0) ack 301 win 300
+0   > P. 301:601(300) ack 1
"""
    )
    assert played(script.format("")).agrees
    off = "+0 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0\n"
    early = played(script.format(off))
    assert early.verdict == "differs"
    assert "0.050 s early" in early.found


def test_settings_come_from_the_text_of_commands_also_in_files_beside_the_script(tmp_path):
    (tmp_path / "defaults.sh").write_text(
        "#!/bin/sh\n# Reno.\nsysctl -q net.ipv4.tcp_congestion_control=reno > /dev/null 2>&1\n"
        "ip tcp_metrics flush all\ntouch ran\n"
    )
    script = f"`./defaults.sh`\n{SLOW_START}"
    verdict = played(script, tmp_path)
    assert (verdict.verdict, verdict.found) == ("not modelled", "`touch ran`")
    (tmp_path / "defaults.sh").write_text("sysctl -q net.ipv4.tcp_early_retrans=0\n")
    assert played(script, tmp_path).agrees
    assert "no such file" in played(f"`./other.sh`\n{SLOW_START}", tmp_path).found


AVOIDANCE = (
    OPEN
    + """\
+0   write(4, ..., 60000) = 60000
+0   > P. 1:10001(10000) ack 1
+.05 < . 1:1(0) ack 1 win 300 <sack 1001:4001,nop,nop>
+0   > . 1:1001(1000) ack 1
+0   %{ assert tcpi_snd_ssthresh == {half} }%
"""
)


def test_the_congestion_control_is_the_scripts_or_that_of_the_user():
    """CUBIC keeps 717/1024 of 10 packets, Reno a half; a rule of the user's keeps what it says."""
    cubic, reno = AVOIDANCE.replace("{half}", "7"), AVOIDANCE.replace("{half}", "5")
    assert played(cubic).agrees
    assert not played(reno).agrees
    assert played(f"`sysctl net.ipv4.tcp_congestion_control=reno`\n{reno}").agrees
    chosen = '+0 setsockopt(3, SOL_TCP, TCP_CONGESTION, "reno", 4) = 0\n+0   bind'
    assert played(reno.replace("+0   bind", chosen)).agrees
    assert played(AVOIDANCE.replace("{half}", "8"), rule="AIMD(1, 0.8)").agrees
    unknown = played(f"`sysctl net.ipv4.tcp_congestion_control=none`\n{reno}")
    assert (unknown.verdict, unknown.found) == ("not modelled", "congestion control none")
    with pytest.raises(ScenarioError, match="Renoo"):
        played(reno, rule="Renoo")


def test_another_profile_has_its_own_initial_window():
    script = OPEN + "+0 write(4, ..., 9000) = 9000\n+0 > P. 1:4001(4000) ack 1\n"
    assert played(script + "+0 %{ assert tcpi_snd_cwnd == 4 }%\n", profile="rfc").agrees


# Texts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no event: expected a script of packetdrill"),
        ("duration = 10\n", 'line 1: "duration = 10" is not valid: expected a time such as'),
        ("0 socket(...", "line 1: .* expected a closing \\)"),
        ("0 socket(...)\n+1 close(3) = 0", "expected a result"),
        ("0 %{ assert 1", "expected a closing }%"),
        ("0 ?", "expected a packet, a system call, a command or code"),
        ("--tolerance_usecs=few\n0 close(3) = 0", '--tolerance_usecs: "few" is not valid'),
    ],
)
def test_what_is_no_script_is_refused_with_its_line(text, message):
    with pytest.raises(ScenarioError, match=message):
        played(text)


def test_times_and_comments_are_read():
    script = Script.parse(
        textwrap.dedent("""\
        --tolerance_usecs=10000
        /* The peer
           connects. */
        0 < S 0:0(0) win 9000 <mss 1000>  // not > here
        * > S. 0:0(0) ack 1 <...>
        .5 < . 1:1(0) ack 1 win 9
        1.2~1.5 > . 1:1(0) ack 1
        """)
    )
    moments = [(event.moment.from_s, event.moment.to_s) for event in script.events if event.moment]
    assert moments == [(0.0, 0.0), (None, 0.0), (0.5, 0.5), (1.2, 1.5)]
    assert [event.line for event in script.events] == [4, 5, 6, 7]


# The command


def test_all_scripts_of_a_folder_are_checked_and_counted(command, tmp_path):
    written(tmp_path, a=SLOW_START, b=SLOW_START.replace("== 14", "== 20"), c=CORKED)
    done = command("conform", tmp_path)
    assert done.returncode == 3
    assert "3 scripts: 1 agree, 1 differ, 1 not modelled" in done.stdout
    assert "b.pkt: differs at line 12: expected assert tcpi_snd_cwnd == 20" in done.stdout
    assert "c.pkt: not modelled at line 8: setsockopt TCP_CORK" in done.stdout
    assert "1 script with a difference: b.pkt" in done.stderr
    assert "to allow that: --allow-not-modelled c.pkt" in done.stderr


def test_what_is_not_modelled_may_be_allowed_by_name(command, tmp_path):
    one, other = written(tmp_path, a=SLOW_START, c=CORKED)
    assert command("conform", one).returncode == 0
    assert command("conform", one, other).returncode == 3
    assert command("conform", one, other, "--allow-not-modelled", "c.pkt").returncode == 0
    refused = command("conform", one, "--allow-not-modelled", "c.pkt")
    assert refused.returncode == 2
    assert '--allow-not-modelled: "c.pkt" is not known: expected a.pkt' in refused.stderr


def test_the_verdicts_are_json_csv_and_junit(command, tmp_path):
    written(tmp_path, a=SLOW_START, b=SLOW_START.replace("== 14", "== 20"), c=CORKED)
    document = json.loads(command("conform", tmp_path, "--json").stdout)
    jsonschema.validate(document, outputs.schema("conform"))
    verdicts = [(Path(row["script"]).name, row["verdict"], row["line"])
                for row in document["scripts"]]  # fmt: skip
    assert verdicts == [("a.pkt", "agrees", None), ("b.pkt", "differs", 12),
                        ("c.pkt", "not modelled", 8)]  # fmt: skip
    table = command("conform", tmp_path, "--format", "csv").stdout
    assert table.startswith("script,verdict,line,expected,found,checks,kernel,kernel_reason")
    command("conform", tmp_path, "--junit", tmp_path / "found.xml")
    suite = ElementTree.parse(tmp_path / "found.xml").getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")


def test_a_rule_of_ones_own_is_held_against_a_script(command, tmp_path):
    """A rule in Python that starts with the window that it was given and never grows."""
    (tmp_path / "mine.py").write_text(
        textwrap.dedent("""\
        class Mine:
            def increase(self, cwnd, ack):
                return cwnd

            def decrease(self, cwnd, congestion):
                return 3.0
        """)
    )
    (path,) = written(tmp_path, own=AVOIDANCE.replace("{half}", "3"))
    assert command("conform", path, "--rule", "mine.py:Mine").returncode == 0
    assert command("conform", path, "--rule", "AIMD(1, 0.5)").returncode == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.pkt",), "none.pkt"),
        (("empty",), 'PATH: "empty" is not valid: expected a script, or a folder'),
        (("text.pkt",), "text.pkt: line 1: "),
        (("a.pkt", "--rule", "Renoo"), "Renoo"),
        (("a.pkt", "--profile", "linx"), "did you mean linux?"),
        (("a.pkt", "--tolerance", "soon"), '--tolerance: "soon" is not valid'),
        (("a.pkt", "--kernel", "no-packetdrill"), '--kernel: "no-packetdrill" is not valid'),
        (("a.pkt", "--junit", "no/such.xml"), "--junit"),
        ((), "PATH... is missing"),
    ],
)
def test_bad_input_is_refused_in_one_line(command, tmp_path, arguments, message):
    written(tmp_path, a=SLOW_START, text="no script\n")
    (tmp_path / "empty").mkdir()
    done = command("conform", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


# A kernel's word


def program(folder: Path, text: str) -> Path:
    path = folder / "packetdrill"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def as_root(monkeypatch):
    """Run programs as root would, without a network namespace."""
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    monkeypatch.setattr(confirmation, "_NAMESPACE", ("env",))


@pytest.mark.parametrize(
    ("text", "outcome", "code"),
    [
        ("exit 0", "confirmed", 3),
        ('echo "b.pkt:12: error in Python code" >&2; exit 1', "not confirmed", 0),
        ("echo 'sysctl: setting key \"net.ipv4.tcp_ecn\": refused' >&2", "could not run", 3),
    ],
)
@pytest.mark.usefixtures("as_root")
def test_scripts_that_the_kernel_does_not_confirm_do_not_count(
    command, tmp_path, text, outcome, code
):
    (path,) = written(tmp_path, b=SLOW_START.replace("== 14", "== 20"))
    done = command("conform", path, "--kernel", program(tmp_path, text))
    assert done.returncode == code
    assert outcome in done.stdout
    if outcome == "confirmed":
        assert "of 1 that the kernel confirms 0 agree" in done.stdout


@pytest.mark.usefixtures("as_root")
def test_packetdrill_runs_beside_its_script_with_the_tolerance_of_the_user(tmp_path):
    (path,) = written(tmp_path, a=SLOW_START)
    said = program(tmp_path, 'echo "$PWD $*" > said')
    assert Confirmation.ask(said, path, 14_000).outcome == "confirmed"
    assert (tmp_path / "said").read_text() == f"{tmp_path} --tolerance_usecs=14000 a.pkt\n"


def test_without_root_the_kernel_is_not_asked(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000, raising=False)
    (path,) = written(tmp_path, a=SLOW_START)
    found = Confirmation.ask(program(tmp_path, "exit 0"), path)
    assert (found.outcome, found.reason) == ("could not run", "packetdrill needs root")
