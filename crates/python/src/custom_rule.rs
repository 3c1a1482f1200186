//! Custom rules: window rules written in Python, as objects with the methods `increase` and
//! `decrease`. An exception or an invalid congestion window ends the run: the rule keeps the first
//! error and no longer changes the window.

use cwndlab_rules::{
    Ack, AckFields, Congestion, MarkResponse, Needs, Sibling, SlowStart, WindowRule,
};
use cwndlab_units::message::unknown;
use pyo3::exceptions::{PyAttributeError, PyKeyboardInterrupt};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use std::sync::{Arc, Mutex};

/// The first exception that any rule of a run raised.
pub type Raised = Arc<Mutex<Option<PyErr>>>;

/// An acknowledgement, as a rule in Python receives it. Times are seconds, amounts packets; values
/// that an endpoint does not know are zero or False. A field that the rule's `needs` do not name
/// raises an AttributeError, for nobody measured it.
#[pyclass(name = "Ack", frozen, module = "cwndlab")]
pub struct PyAck {
    ack: Ack,
    needs: Needs,
}

impl PyAck {
    fn new(ack: &Ack, needs: Needs) -> Self {
        Self { ack: *ack, needs }
    }

    pub fn ack(&self) -> &Ack {
        &self.ack
    }

    /// A field, if the rule declared the need that it belongs to.
    fn declared<T>(&self, is_declared: bool, need: &str, field: &str, value: T) -> PyResult<T> {
        if is_declared {
            return Ok(value);
        }
        Err(PyAttributeError::new_err(format!(
            "ack.{field} is not measured: expected \"{need}\" among the rule's needs"
        )))
    }

    fn with_rate<T>(&self, field: &str, value: T) -> PyResult<T> {
        self.declared(self.needs.delivery_rate, "delivery_rate", field, value)
    }

    fn with_recovery<T>(&self, field: &str, value: T) -> PyResult<T> {
        self.declared(self.needs.recovery, "recovery", field, value)
    }
}

#[pymethods]
impl PyAck {
    fn __repr__(&self) -> String {
        let Ack { now_s, acked_packets, rtt_s, .. } = self.ack;
        format!("<Ack at {now_s} s: {acked_packets} packets, rtt {rtt_s} s>")
    }

    #[getter]
    fn now_s(&self) -> f64 {
        self.ack.now_s
    }

    #[getter]
    fn acked_packets(&self) -> u64 {
        self.ack.acked_packets
    }

    #[getter]
    fn growth_packets(&self) -> u64 {
        self.ack.growth_packets
    }

    #[getter]
    fn ssthresh_packets(&self) -> f64 {
        self.ack.ssthresh_packets
    }

    #[getter]
    fn cwnd_limited(&self) -> bool {
        self.ack.cwnd_limited
    }

    #[getter]
    fn delivered_packets(&self) -> u64 {
        self.ack.delivered_packets
    }

    #[getter]
    fn lost_packets(&self) -> u64 {
        self.ack.lost_packets
    }

    #[getter]
    fn in_flight_packets(&self) -> u64 {
        self.ack.in_flight_packets
    }

    #[getter]
    fn rtt_s(&self) -> f64 {
        self.ack.rtt_s
    }

    #[getter]
    fn srtt_s(&self) -> f64 {
        self.ack.srtt_s
    }

    #[getter]
    fn min_rtt_s(&self) -> f64 {
        self.ack.min_rtt_s
    }

    #[getter]
    fn queueing_delay_s(&self) -> f64 {
        self.ack.queueing_delay_s
    }

    #[getter]
    fn marked(&self) -> bool {
        self.ack.marked
    }

    #[getter]
    fn marked_packets(&self) -> u64 {
        self.ack.marked_packets
    }

    #[getter]
    fn in_recovery(&self) -> bool {
        self.ack.in_recovery
    }

    #[getter]
    fn round_start(&self) -> PyResult<bool> {
        self.declared(self.needs.rounds, "rounds", "round_start", self.ack.round_start)
    }

    #[getter]
    fn delivery_rate_packets_s(&self) -> PyResult<f64> {
        self.with_rate("delivery_rate_packets_s", self.ack.delivery_rate_packets_s)
    }

    #[getter]
    fn app_limited(&self) -> PyResult<bool> {
        self.with_rate("app_limited", self.ack.app_limited)
    }

    #[getter]
    fn sent_in_flight_packets(&self) -> PyResult<u64> {
        self.with_recovery("sent_in_flight_packets", self.ack.sent_in_flight_packets)
    }

    #[getter]
    fn delivered_since_sent_packets(&self) -> PyResult<u64> {
        self.with_recovery("delivered_since_sent_packets", self.ack.delivered_since_sent_packets)
    }

    #[getter]
    fn lost_since_sent_packets(&self) -> PyResult<u64> {
        self.with_recovery("lost_since_sent_packets", self.ack.lost_since_sent_packets)
    }
}

/// A subflow of a connection, as a coupled rule in Python sees it: its window in packets, its
/// smoothed RTT in seconds, the packets acknowledged between its last two reductions or since the
/// last one, whichever are more, and whether it is the rule's own.
#[pyclass(name = "Sibling", frozen, module = "cwndlab")]
pub struct PySibling {
    sibling: Sibling,
    is_own: bool,
}

#[pymethods]
impl PySibling {
    fn __repr__(&self) -> String {
        let Sibling { cwnd, srtt_s, .. } = self.sibling;
        format!("<Sibling: {cwnd} packets, srtt {srtt_s} s>")
    }

    #[getter]
    fn cwnd_packets(&self) -> f64 {
        self.sibling.cwnd
    }

    #[getter]
    fn srtt_s(&self) -> f64 {
        self.sibling.srtt_s
    }

    #[getter]
    fn loss_interval_packets(&self) -> f64 {
        self.sibling.loss_interval_packets
    }

    #[getter]
    fn is_own(&self) -> bool {
        self.is_own
    }
}

/// An instance of a user's class and its bound methods.
#[derive(Debug)]
pub struct PythonRule {
    instance: Py<PyAny>,
    increase: Py<PyAny>,
    decrease: Py<PyAny>,
    slow_start: Option<Py<PyAny>>,
    on_mark: Option<Py<PyAny>>,
    pacing_rate: Option<Py<PyAny>>,
    restart_from_idle: Option<Py<PyAny>>,
    state: Option<Py<PyAny>>,
    /// The return value of `pacing_rate` after the last event.
    rate: Option<f64>,
    /// `cwndlab.Leave`: a return value of this type ends slow start.
    leave: Py<PyAny>,
    /// The argument of a rule whose methods read no field of it.
    unread_ack: Option<Py<PyAck>>,
    /// The subflows of the connection, of a rule whose `increase` takes them.
    siblings: Option<Py<PyTuple>>,
    needs: Needs,
    fault: Option<String>,
    raised: Raised,
}

impl PythonRule {
    /// Looks up the methods and the needs of an instance.
    pub fn new(instance: &Bound<'_, PyAny>, raised: Raised) -> PyResult<Self> {
        let py = instance.py();
        let method = |name: &str| -> PyResult<Option<Py<PyAny>>> {
            let method = instance.getattr_opt(name)?;
            Ok(method.filter(|method| method.is_callable()).map(Bound::unbind))
        };
        let needed =
            |name: &str| method(name)?.ok_or_else(|| unusable(py, format!("has no method {name}")));
        let pacing_rate = method("pacing_rate")?;
        let names: Vec<String> = instance.getattr_opt("needs")?.map_or_else(
            || Ok(Vec::new()),
            |needs| needs.try_iter()?.map(|x| x?.extract()).collect(),
        )?;
        let mut needs = Needs { pacing: pacing_rate.is_some(), faults: true, ..Needs::default() };
        for name in &names {
            match name.as_str() {
                "delivery_rate" => needs.delivery_rate = true,
                "exact_marks" => needs.exact_marks = true,
                "recovery" => needs.recovery = true,
                "rounds" => needs.rounds = true,
                other => {
                    let known = ["delivery_rate", "exact_marks", "recovery", "rounds"];
                    return Err(unusable(py, unknown("needs", other, &known)));
                }
            }
        }
        needs.halves_in_slow_start = instance
            .getattr_opt("halves_in_slow_start")?
            .is_some_and(|halves| halves.is_truthy().unwrap_or(false));
        let (increase, slow_start, on_mark) =
            (needed("increase")?, method("slow_start")?, method("on_mark")?);
        needs.coupled = py
            .import("cwndlab.ack_fields")?
            .getattr("takes_siblings")?
            .call1((&increase,))?
            .extract()?;
        let siblings = needs.coupled.then(|| PyTuple::empty(py).unbind());
        let mut unread_ack = None;
        if names.is_empty() && pacing_rate.is_none() && on_mark.is_none() {
            let mut fields = ack_fields(py, &increase)?;
            if let Some(slow_start) = &slow_start {
                fields = fields.max(ack_fields(py, slow_start)?);
            }
            if fields == AckFields::None {
                unread_ack = Some(Py::new(py, PyAck::new(&Ack::EMPTY, needs))?);
            }
            // The window of a rule that reads nothing has to be checked, too.
            needs.ack = fields.max(AckFields::Rtt);
        }
        let mut rule = Self {
            increase,
            decrease: needed("decrease")?,
            slow_start,
            on_mark,
            pacing_rate,
            restart_from_idle: method("restart_from_idle")?,
            unread_ack,
            siblings,
            state: method("state")?,
            rate: None,
            leave: py.import("cwndlab.custom_rules")?.getattr("Leave")?.unbind(),
            needs,
            instance: instance.clone().unbind(),
            fault: None,
            raised,
        };
        rule.ask_rate(py);
        Ok(rule)
    }

    /// Makes an instance by calling `make`; an exception becomes the new rule's fault.
    pub fn made(make: &Py<PyAny>, raised: &Raised) -> Self {
        Python::attach(|py| {
            make.call0(py)
                .and_then(|instance| Self::new(instance.bind(py), raised.clone()))
                .unwrap_or_else(|error| Self::broken(py, error, raised))
        })
    }

    fn broken(py: Python<'_>, error: PyErr, raised: &Raised) -> Self {
        let none = || py.None();
        let mut rule = Self {
            instance: none(),
            increase: none(),
            decrease: none(),
            slow_start: None,
            on_mark: None,
            pacing_rate: None,
            restart_from_idle: None,
            state: None,
            rate: None,
            leave: none(),
            unread_ack: None,
            siblings: None,
            needs: Needs { faults: true, ..Needs::default() },
            fault: None,
            raised: raised.clone(),
        };
        rule.keep(py, "making it", error);
        rule
    }

    /// The second argument of a method.
    #[inline]
    fn ack_argument(&self, py: Python<'_>, ack: &Ack) -> PyResult<Py<PyAck>> {
        self.unread_ack.as_ref().map_or_else(
            || Py::new(py, PyAck::new(ack, self.needs)),
            |unread| Ok(unread.clone_ref(py)),
        )
    }

    /// Keeps an exception as the rule's fault.
    fn keep(&mut self, py: Python<'_>, doing: &str, error: PyErr) {
        self.fault = Some(format!("{doing} raised {}", explain(py, &error)));
        if let Ok(mut raised) = self.raised.lock() {
            raised.get_or_insert(error);
        }
    }

    /// Calls `pacing_rate`, as after every event.
    fn ask_rate(&mut self, py: Python<'_>) {
        let Some(method) = self.pacing_rate.as_ref().filter(|_| self.fault.is_none()) else {
            return;
        };
        match method.call0(py).and_then(|answer| answer.extract::<Option<f64>>(py)) {
            Ok(rate) if rate.is_none_or(|rate| rate.is_finite() && rate > 0.0) => self.rate = rate,
            Ok(rate) => {
                self.fault = Some(format!(
                    "pacing_rate returned an invalid rate, {}: expected None or a number of \
                     packets/s above 0",
                    rate.unwrap_or_default()
                ))
            }
            Err(error) => self.keep(py, "pacing_rate", error),
        }
    }

    /// The window that a call returned; the current window if the call failed.
    fn window(
        &mut self,
        py: Python<'_>,
        doing: &str,
        cwnd: f64,
        answer: PyResult<Py<PyAny>>,
    ) -> f64 {
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                self.keep(py, doing, error);
                return cwnd;
            }
        };
        match answer.extract::<f64>(py) {
            Ok(window) if window.is_finite() => window,
            _ => {
                let shown =
                    answer.bind(py).repr().map_or_else(|_| "?".into(), |text| text.to_string());
                let shown: String = shown.chars().take(60).collect();
                self.fault = Some(format!(
                    "{doing} returned an invalid congestion window, {shown}, at {cwnd} packets: \
                     expected a finite number of packets"
                ));
                cwnd
            }
        }
    }
}

/// Which fields of an acknowledgement a method reads.
fn ack_fields(py: Python<'_>, method: &Py<PyAny>) -> PyResult<AckFields> {
    let fields = py.import("cwndlab.ack_fields")?.getattr("ack_fields")?.call1((method,))?;
    Ok(match fields.extract::<&str>()? {
        "none" => AckFields::None,
        "rtt" => AckFields::Rtt,
        _ => AckFields::All,
    })
}

/// An exception and the place where it was raised, in one line.
pub fn explain(py: Python<'_>, error: &PyErr) -> String {
    let value = error.value(py);
    // PyO3 keeps the traceback apart from the exception.
    let _ = value.setattr("__traceback__", error.traceback(py));
    let explained = py
        .import("cwndlab.custom_rules")
        .and_then(|module| module.getattr("explain")?.call1((value,))?.extract());
    explained.unwrap_or_else(|_| error.to_string().replace('\n', " "))
}

/// An exception that says what is wrong with a class, without a place.
fn unusable(py: Python<'_>, message: String) -> PyErr {
    let raised = py
        .import("cwndlab.custom_rules")
        .and_then(|module| module.getattr("Unusable")?.call1((message,)));
    raised.map_or_else(|error| error, PyErr::from_value)
}

/// Whether an exception is Ctrl-C, which is nobody's error. Any other one is the rule's, `SystemExit`
/// among them: a rule must not end the program that judges it.
pub fn is_interrupt(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PyKeyboardInterrupt>(py)
}

impl Clone for PythonRule {
    /// Copies the instance by `copy.deepcopy`: arriving flows start from a copy of an unused
    /// instance.
    fn clone(&self) -> Self {
        Python::attach(|py| {
            let copied = py
                .import("copy")
                .and_then(|copy| copy.getattr("deepcopy")?.call1((&self.instance,)));
            match copied.and_then(|instance| Self::new(&instance, self.raised.clone())) {
                Ok(rule) => Self { fault: self.fault.clone(), ..rule },
                Err(error) => Self::broken(py, error, &self.raised),
            }
        })
    }
}

impl WindowRule for PythonRule {
    fn increase(&mut self, cwnd: f64, ack: &Ack) -> f64 {
        if self.fault.is_some() {
            return cwnd;
        }
        Python::attach(|py| {
            let answer = self.ack_argument(py, ack).and_then(|ack| match &self.siblings {
                None => self.increase.call1(py, (cwnd, ack)),
                Some(siblings) => self.increase.call1(py, (cwnd, ack, siblings.clone_ref(py))),
            });
            let window = self.window(py, "increase", cwnd, answer);
            self.ask_rate(py);
            window
        })
    }

    fn decrease(&mut self, cwnd: f64, congestion: Congestion) -> f64 {
        if self.fault.is_some() {
            return cwnd;
        }
        Python::attach(|py| {
            let signal = match congestion {
                Congestion::FastRetransmit => pyo3::intern!(py, "loss"),
                Congestion::Ecn => pyo3::intern!(py, "ecn"),
                Congestion::Timeout => pyo3::intern!(py, "timeout"),
            };
            let signal: &Bound<'_, PyString> = signal;
            let answer = self.decrease.call1(py, (cwnd, signal));
            let window = self.window(py, "decrease", cwnd, answer);
            self.ask_rate(py);
            window
        })
    }

    fn on_siblings(&mut self, siblings: &[Sibling], own: usize) {
        if self.fault.is_some() {
            return;
        }
        Python::attach(|py| {
            let of = |(i, &sibling): (usize, &Sibling)| {
                Py::new(py, PySibling { sibling, is_own: i == own })
            };
            let told: PyResult<Vec<_>> = siblings.iter().enumerate().map(of).collect();
            match told.and_then(|told| PyTuple::new(py, told)) {
                Ok(told) => self.siblings = Some(told.unbind()),
                Err(error) => self.keep(py, "on_siblings", error),
            }
        });
    }

    fn slow_start(&mut self, cwnd: f64, ack: &Ack) -> SlowStart {
        if self.fault.is_some() {
            return SlowStart::Grow(cwnd);
        }
        if self.slow_start.is_none() {
            let (cwnd, left_over) = ack.slow_start_packets(cwnd);
            if left_over == 0 {
                return SlowStart::Grow(cwnd);
            }
            let ack = Ack { growth_packets: left_over, ..*ack };
            return SlowStart::Grow(self.increase(cwnd, &ack));
        }
        Python::attach(|py| {
            let Some(method) = &self.slow_start else { return SlowStart::Grow(cwnd) };
            let answer = self.ack_argument(py, ack).and_then(|ack| method.call1(py, (cwnd, ack)));
            let leaves = answer.as_ref().is_ok_and(|answer| {
                answer.bind(py).is_instance(self.leave.bind(py)).unwrap_or(false)
            });
            let window = self.window(py, "slow_start", cwnd, answer);
            self.ask_rate(py);
            if leaves { SlowStart::Leave(window) } else { SlowStart::Grow(window) }
        })
    }

    fn on_mark(&mut self, cwnd: f64, ack: &Ack) -> MarkResponse {
        if self.on_mark.is_none() || self.fault.is_some() {
            return MarkResponse::Reduce;
        }
        Python::attach(|py| {
            let Some(method) = &self.on_mark else { return MarkResponse::Reduce };
            let answer = Py::new(py, PyAck::new(ack, self.needs))
                .and_then(|ack| method.call1(py, (cwnd, ack))?.is_truthy(py));
            self.ask_rate(py);
            match answer {
                Ok(true) => MarkResponse::Reduce,
                Ok(false) => MarkResponse::Consumed,
                Err(error) => {
                    self.keep(py, "on_mark", error);
                    MarkResponse::Consumed
                }
            }
        })
    }

    fn pacing_rate_packets_s(&self) -> Option<f64> {
        self.rate
    }

    fn restart_from_idle(&mut self, cwnd: f64, now_s: f64) -> f64 {
        if self.restart_from_idle.is_none() || self.fault.is_some() {
            return cwnd;
        }
        Python::attach(|py| {
            let Some(method) = &self.restart_from_idle else { return cwnd };
            let answer = method.call1(py, (cwnd, now_s));
            let window = self.window(py, "restart_from_idle", cwnd, answer);
            self.ask_rate(py);
            window
        })
    }

    fn state(&self, report: &mut dyn FnMut(&str, f64)) {
        let Some(method) = self.state.as_ref().filter(|_| self.fault.is_none()) else { return };
        Python::attach(|py| {
            let state = method.call0(py).and_then(|state| {
                let state = state.bind(py).cast::<PyDict>()?;
                let entry = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
                    Ok((name.extract::<String>()?, value.extract::<Option<f64>>()?))
                };
                state.iter().map(entry).collect::<PyResult<Vec<_>>>()
            });
            match state {
                Ok(state) => {
                    state.iter().for_each(|(name, value)| report(name, value.unwrap_or(f64::NAN)))
                }
                // The run is at its end or goes on, and reports the exception then.
                Err(error) => {
                    if let Ok(mut raised) = self.raised.lock() {
                        raised.get_or_insert(error);
                    }
                }
            }
        });
    }

    fn needs(&self) -> Needs {
        self.needs
    }

    fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}
