//! The two ends of a connection.

use crate::endpoint::Endpoint;

/// The two ends of a connection.
pub struct Connection {
    /// The end that connects and sends data.
    pub sender: Box<dyn Endpoint>,
    /// The end that receives them.
    pub receiver: Box<dyn Endpoint>,
}
