# SPDX-License-Identifier: GPL-2.0-only
obj-y := table.o surface.o bimodal.o mraimd.o
