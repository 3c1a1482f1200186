"""Recorded flows, captures of packets and qlogs, as scenarios."""

from cwndlab.captures.estimates import Estimate
from cwndlab.captures.imported import Imported
from cwndlab.captures.importing import import_pcap, import_qlog

__all__ = ["Estimate", "Imported", "import_pcap", "import_qlog"]
