// The 10-flow workload in ns-3: a dumbbell of TCP flows with SACK over a drop-tail queue, timed over Simulator::Run alone.
// Arguments: bottleneck bit/s, its delay in ns, its queue in packets, access bit/s, seconds, then delay in ns and start in ns of each flow.
// Prints microseconds of the run phase, the packets that reached the bottleneck and those that its queue dropped. ns3_reference.py compiles and runs it.
//
// ns-3 is a different TCP: segments of 1000 bytes and the same network, but real headers (54 bytes with point-to-point framing, 66 with
// timestamps) and its own defaults (NewReno, RFC 6675 recovery, delayed acknowledgements turned off here). So the packets are as many, not
// the same ones.
#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include <chrono>
#include <cstdlib>
#include <iostream>

using namespace ns3;

namespace {
constexpr uint32_t SEGMENT_BYTES = 1000;
// Far above what the path holds, as the window limit of the scenario is.
constexpr uint32_t BUFFER_BYTES = 100000 * SEGMENT_BYTES;

uint64_t dropped = 0;

void Count(Ptr<const Packet>)
{
    ++dropped;
}

PointToPointHelper Link(double rate_bps, int64_t delay_ns, uint32_t queue_packets)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(rate_bps))));
    link.SetChannelAttribute("Delay", TimeValue(NanoSeconds(delay_ns)));
    link.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, queue_packets)));
    return link;
}
} // namespace

int main(int argc, char *argv[])
{
    if (argc < 8 || argc % 2 != 0)
    {
        std::cerr << "usage: ns3_reference RATE DELAY QUEUE ACCESS_RATE SECONDS (DELAY START)...\n";
        return 2;
    }
    const double rate_bps = std::atof(argv[1]);
    const int64_t delay_ns = std::atoll(argv[2]);
    const uint32_t queue_packets = std::atoi(argv[3]);
    const double access_bps = std::atof(argv[4]);
    const double seconds = std::atof(argv[5]);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT_BYTES));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(BUFFER_BYTES));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(BUFFER_BYTES));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));

    NodeContainer routers;
    routers.Create(2);
    InternetStackHelper stack;
    stack.Install(routers);
    Ipv4AddressHelper addresses;
    addresses.SetBase("10.0.0.0", "255.255.255.252");
    // Queues are the devices' alone: a queue discipline above them would be a second buffer.
    auto join = [&](NodeContainer ends, PointToPointHelper link) {
        auto interfaces = addresses.Assign(link.Install(ends));
        TrafficControlHelper().Uninstall(NetDeviceContainer(ends.Get(0)->GetDevice(ends.Get(0)->GetNDevices() - 1),
                                                            ends.Get(1)->GetDevice(ends.Get(1)->GetNDevices() - 1)));
        addresses.NewNetwork();
        return interfaces;
    };
    const auto bottleneck = join(routers, Link(rate_bps, delay_ns, queue_packets));
    const auto device = routers.Get(0)->GetDevice(routers.Get(0)->GetNDevices() - 1);
    const auto queue = DynamicCast<PointToPointNetDevice>(device)->GetQueue();
    // A full queue stops its device, and what then comes is dropped in front of it; no other queue of this node is ever full.
    routers.Get(0)->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext("TcDrop", MakeCallback(&Count));

    for (int i = 6; i + 1 < argc; i += 2)
    {
        const uint16_t port = 1000 + i;
        NodeContainer source;
        source.Create(1);
        stack.Install(source);
        join(NodeContainer(source.Get(0), routers.Get(0)), Link(access_bps, std::atoll(argv[i]), 1000000));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(bottleneck.GetAddress(1), port));
        bulk.SetAttribute("SendSize", UintegerValue(SEGMENT_BYTES));
        bulk.Install(source.Get(0)).Start(NanoSeconds(std::atoll(argv[i + 1])));
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sink.Install(routers.Get(1));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Simulator::Stop(Seconds(seconds));
    const auto begin = std::chrono::steady_clock::now();
    Simulator::Run();
    const auto wall = std::chrono::steady_clock::now() - begin;
    dropped += queue->GetTotalDroppedPackets();
    std::cout << std::chrono::duration_cast<std::chrono::microseconds>(wall).count() << ' '
              << queue->GetTotalReceivedPackets() + dropped << ' ' << dropped << '\n';
    Simulator::Destroy();
    return 0;
}
