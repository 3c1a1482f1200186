"""What examples/agents/cem.py learned (60 generations, seed 1)."""

from cwndlab.gym import PolicyRule


class Trained(PolicyRule):
    """The policy as a rule."""

    policy = {'observe': ['rtt_ratio', 'rtt_gradient', 'delivery_ratio', 'loss_rate', 'cwnd_ratio'],
     'action': 'window_factor',
     'every': 'rtt',
     'limits': [2, 5000],
     'center': [1.0, 0.0, 1.0, 0.0, 1.0],
     'scale': [0.5, 0.5, 0.5, 0.05, 0.5],
     'layers': [{'weights': [[0.028, 0.0789, -0.0836, -0.0081, -0.5531]],
                 'bias': [0.2085],
                 'activation': 'linear'}]}
