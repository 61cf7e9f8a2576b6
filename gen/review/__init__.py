"""Effects of a merge on runs, data, GPUs and costs: `compare_trees` compares rendered trees. Also the list of jobs."""
