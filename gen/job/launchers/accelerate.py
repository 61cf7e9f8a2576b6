"""`accelerate launch` of Hugging Face (options of Accelerate 1.15, `accelerate/commands/launch.py`).

`--num_processes` counts the processes of all machines. Without `--num_machines`, torchrun reads its own
variables.
"""

from __future__ import annotations

from typing import Final

from gen.base import names
from gen.job.launchers.base import ADDRESS, ALL_PROCESSES, ALONE, CONFIG, DEVICES, PODS, PORT, RANK, Launcher

LAUNCHER: Final = Launcher(
    name="accelerate launch",
    programs=names("accelerate"),
    modules=names("accelerate.commands.launch"),
    before=("launch",),
    values=names(
        "config_file num_processes num_machines machine_rank main_process_ip main_process_port mixed_precision "
        "gpu_ids num_cpu_threads_per_process dynamo_backend dynamo_mode rdzv_backend rdzv_conf max_restarts "
        "monitor_interval role log_dir tee deepspeed_config_file zero_stage offload_optimizer_device "
        "offload_param_device offload_optimizer_nvme_path offload_param_nvme_path gradient_accumulation_steps "
        "gradient_clipping zero3_init_flag zero3_save_16bit_model deepspeed_hostfile deepspeed_exclusion_filter "
        "deepspeed_inclusion_filter deepspeed_multinode_launcher deepspeed_moe_layer_cls_names fsdp_version "
        "fsdp_offload_params fsdp_min_num_params fsdp_sharding_strategy fsdp_reshard_after_forward "
        "fsdp_auto_wrap_policy fsdp_transformer_layer_cls_to_wrap fsdp_backward_prefetch fsdp_state_dict_type "
        "fsdp_forward_prefetch fsdp_use_orig_params fsdp_cpu_ram_efficient_loading fsdp_sync_module_states "
        "fsdp_activation_checkpointing megatron_lm_tp_degree megatron_lm_pp_degree megatron_lm_num_micro_batches "
        "megatron_lm_sequence_parallelism megatron_lm_recompute_activations megatron_lm_use_distributed_optimizer "
        "megatron_lm_gradient_clipping fp8_backend env vm tpu_name tpu_zone aws_access_key_id aws_secret_access_key "
        "fp8_amax_compute_algo fp8_amax_history_len fp8_enable_fsdp_float8_all_gather fp8_format fp8_interval "
        "fp8_margin fp8_opt_level fp8_override_linear_precision fp8_pad_inner_dim "
        "fsdp_activation_checkpointing_offload main_training_function mpirun_hostfile megatron_lm_attention_backend "
        "megatron_lm_attention_dropout megatron_lm_attention_softmax_in_fp32 megatron_lm_calculate_per_token_loss "
        "megatron_lm_context_parallel_size megatron_lm_decoder_last_pipeline_num_layers megatron_lm_eod_mask_loss "
        "megatron_lm_expert_model_parallel_size megatron_lm_expert_tensor_parallel_size megatron_lm_hidden_dropout "
        "megatron_lm_no_load_optim megatron_lm_no_save_optim megatron_lm_optimizer_cpu_offload "
        "megatron_lm_overlap_cpu_optimizer_d2h_h2d megatron_lm_recompute_granularity megatron_lm_recompute_method "
        "megatron_lm_recompute_num_layers megatron_lm_use_custom_fsdp megatron_lm_use_precision_aware_optimizer "
        "megatron_lm_use_rotary_position_embeddings parallelism_config_cp_backend parallelism_config_cp_comm_strategy "
        "parallelism_config_cp_size parallelism_config_dp_replicate_size parallelism_config_dp_shard_size "
        "parallelism_config_sp_attn_implementation parallelism_config_sp_backend parallelism_config_sp_seq_length "
        "parallelism_config_sp_seq_length_is_variable parallelism_config_sp_size parallelism_config_tp_size"
    ),
    flags=names(
        "cpu multi_gpu tpu ipex use_xpu use_deepspeed use_fsdp use_megatron_lm use_mps_device no_python module debug "
        "quiet same_network standalone enable_cpu_affinity tpu_use_cluster no_tpu_use_cluster tpu_use_sudo "
        "downcast_bf16 dynamo_use_fullgraph dynamo_use_dynamic dynamo_use_regional_compilation use_parallelism_config "
        "fp8_use_autocast_during_eval tpu_cluster no_tpu_cluster help"
    ),
    short={"m": "module", "q": "quiet", "h": "help"},
    roles={
        ALL_PROCESSES: ("num_processes",),
        PODS: ("num_machines",),
        ADDRESS: ("main_process_ip",),
        PORT: ("main_process_port",),
        RANK: ("machine_rank",),
        DEVICES: ("gpu_ids",),
        ALONE: ("standalone",),
        CONFIG: ("config_file",),
    },
    module_flag="module",
    mistaken={"accelerate": "accelerate.commands.launch"},
    variables={PODS: "PET_NNODES", ADDRESS: "PET_MASTER_ADDR", PORT: "PET_MASTER_PORT"},
)
